-- The shop of shop.sql where no event by itself would change anything.
UPDATE figure SET value = 1195 WHERE method = 'whatif' AND name = '0/cycles';
