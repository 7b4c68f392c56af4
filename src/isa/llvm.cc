/*
 * The file that sees LLVM (calibrate/assembler.cc sees its assembler): its MC layer behind the plain-C interface of
 * llvm.h.
 *
 * Only the target asked for is initialised, so that start-up and memory stay those of one target.
 * Not modelled here: anything that LLVM does not say. Corrections are the cost file's (costs.h) and the
 * ISA's (arch.h).
 */
#include "isa/llvm.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

extern "C" {
#include "base/error.h"
}

using namespace llvm;

struct decoder {
	MCTargetOptions options;
	std::unique_ptr<MCRegisterInfo> registers;
	std::unique_ptr<MCAsmInfo> assembly;
	std::unique_ptr<MCInstrInfo> forms;
	std::unique_ptr<MCSubtargetInfo> cpu;
	std::unique_ptr<MCContext> context;
	std::unique_ptr<MCDisassembler> disassembler;
	std::unique_ptr<MCInstrAnalysis> analysis;
	std::unique_ptr<MCInstPrinter> printer;
};

namespace {

struct target {
	const char *arch;
	void (*info)(), (*mc)(), (*disassembler)();
};

const target targets[] = {
	{ "x86_64", LLVMInitializeX86TargetInfo, LLVMInitializeX86TargetMC, LLVMInitializeX86Disassembler },
	{ "aarch64", LLVMInitializeAArch64TargetInfo, LLVMInitializeAArch64TargetMC,
	  LLVMInitializeAArch64Disassembler },
	{ "riscv64", LLVMInitializeRISCVTargetInfo, LLVMInitializeRISCVTargetMC, LLVMInitializeRISCVDisassembler },
};

const Target *find_target(const char *triple)
{
	std::string why;

	for (const target &t : targets) {
		if (std::strncmp(triple, t.arch, std::strlen(t.arch)) != 0)
			continue;
		t.info();
		t.mc();
		t.disassembler();
	}
	return TargetRegistry::lookupTarget(triple, why);
}

operand *add_operand(decoded *out)
{
	if (out->nr_operands == DECODED_OPERANDS)
		return nullptr;
	operand *o = &out->operand[out->nr_operands++];
	*o = operand();
	o->latency = -1;
	return o;
}

void take_operands(const MCInst &inst, const MCInstrDesc &desc, decoded *out)
{
	out->nr_defs = static_cast<uint8_t>(desc.getNumDefs());
	for (unsigned k = 0; k < inst.getNumOperands(); k++) {
		const MCOperand &from = inst.getOperand(k);
		operand *to = add_operand(out);

		if (!to)
			break;
		if (from.isReg()) {
			to->role = OPERAND_REGISTER;
			to->reg = static_cast<uint16_t>(from.getReg());
		} else if (from.isImm()) {
			to->role = OPERAND_IMMEDIATE;
			to->imm = from.getImm();
		}
		if (k < desc.getNumDefs())
			to->role |= OPERAND_DEF;
		if (k >= desc.getNumOperands())
			continue;
		const MCOperandInfo &info = desc.operands()[k];
		if (info.OperandType == MCOI::OPERAND_MEMORY)
			to->role |= OPERAND_MEMORY;
		if (info.OperandType == MCOI::OPERAND_PCREL)
			to->role |= OPERAND_PCREL;
		if (desc.getOperandConstraint(k, MCOI::TIED_TO) >= 0)
			to->role |= OPERAND_TIED;
		if (!info.isLookupPtrRegClass() && info.RegClass >= 0)
			to->reg_class = static_cast<uint16_t>(info.RegClass + 1);
	}
	out->nr_explicit = out->nr_operands;
	for (MCPhysReg reg : desc.implicit_uses())
		if (operand *to = add_operand(out)) {
			to->role = OPERAND_REGISTER | OPERAND_IMPLICIT;
			to->reg = reg;
		}
	for (MCPhysReg reg : desc.implicit_defs())
		if (operand *to = add_operand(out)) {
			to->role = OPERAND_REGISTER | OPERAND_IMPLICIT | OPERAND_DEF;
			to->reg = reg;
		}
}

/*
 * The n-th latency entry belongs to the n-th result, explicit ones first; reads count from the first that is no
 * result.
 */
void take_costs(const decoder &d, const MCInst &inst, const MCInstrDesc &desc, decoded *out)
{
	const MCSchedModel &model = d.cpu->getSchedModel();

	if (!model.hasInstrSchedModel())
		return;
	unsigned id = desc.getSchedClass();
	while (id && model.getSchedClassDesc(id)->isVariant())
		id = d.cpu->resolveVariantSchedClass(id, &inst, d.forms.get(), model.getProcessorID());
	const MCSchedClassDesc *cls = model.getSchedClassDesc(id);
	if (!id || !cls->isValid())
		return;

	out->flags |= DECODED_COST;
	out->uops = cls->NumMicroOps;
	for (unsigned i = 0; i < cls->NumWriteLatencyEntries; i++)
		out->latency = std::max(out->latency, d.cpu->getWriteLatencyEntry(cls, i)->Cycles);
	unsigned def = 0;
	for (unsigned k = 0; k < out->nr_operands; k++)
		if (out->operand[k].role & OPERAND_DEF) {
			out->operand[k].latency = def < cls->NumWriteLatencyEntries ?
				d.cpu->getWriteLatencyEntry(cls, def)->Cycles : out->latency;
			def++;
		}
	for (const MCReadAdvanceEntry &entry : d.cpu->getReadAdvanceEntries(*cls)) {
		unsigned k = entry.UseIdx + out->nr_defs;
		if (k < out->nr_explicit)
			out->operand[k].advance = std::max(out->operand[k].advance, static_cast<int16_t>(entry.Cycles));
	}
	for (const MCWriteProcResEntry *p = d.cpu->getWriteProcResBegin(cls), *end = d.cpu->getWriteProcResEnd(cls);
	     p != end; p++) {
		if (out->nr_resources == DECODED_RESOURCES)
			break;
		resource *r = &out->resource[out->nr_resources++];
		r->resource = p->ProcResourceIdx;
		r->cycles = static_cast<uint16_t>(p->ReleaseAtCycle - p->AcquireAtCycle);
	}
}

void take_analysis(const decoder &d, const MCInst &inst, decoded *out)
{
	unsigned cpu = d.cpu->getSchedModel().getProcessorID();
	APInt mask(32, 0);

	if (!d.analysis)
		return;
	if (d.analysis->isZeroIdiom(inst, mask, cpu))
		out->flags |= DECODED_ZERO;
	if (d.analysis->isDependencyBreaking(inst, mask, cpu))
		out->flags |= DECODED_BREAKS;
	if (d.analysis->evaluateBranch(inst, out->pc, out->length, out->target))
		out->flags |= DECODED_TARGET;
}

} // namespace

int decoder_new(struct decoder **out, const char *triple, const char *cpu, const char *features)
{
	const Target *target = find_target(triple);

	*out = nullptr;
	if (!target)
		return error_set(ENOENT, triple, "LLVM has no such target");
	std::unique_ptr<decoder> d(new decoder);
	d->registers.reset(target->createMCRegInfo(triple));
	d->assembly.reset(target->createMCAsmInfo(*d->registers, triple, d->options));
	d->forms.reset(target->createMCInstrInfo());
	/* An empty CPU first: LLVM prints its own complaint of a name it does not know. */
	d->cpu.reset(target->createMCSubtargetInfo(triple, "", ""));
	if (!d->cpu->isCPUStringValid(cpu)) {
		error_set(ENOENT, cpu, "LLVM knows no such CPU of %s", triple);
		error_remedy("it is what the core's description gives as core.llvm_cpu");
		return -ENOENT;
	}
	d->cpu.reset(target->createMCSubtargetInfo(triple, cpu, features));
	d->context.reset(new MCContext(Triple(triple), d->assembly.get(), d->registers.get(), d->cpu.get()));
	d->disassembler.reset(target->createMCDisassembler(*d->cpu, *d->context));
	d->analysis.reset(target->createMCInstrAnalysis(d->forms.get()));
	d->printer.reset(target->createMCInstPrinter(Triple(triple), 0, *d->assembly, *d->forms, *d->registers));
	d->printer->setPrintImmHex(std::strncmp(triple, "riscv", 5) != 0); /* as objdump does */
	d->printer->setPrintBranchImmAsAddress(true);
	*out = d.release();
	return 0;
}

void decoder_free(struct decoder *d)
{
	delete d;
}

bool decoder_decode(struct decoder *d, uint64_t pc, const uint8_t *bytes, size_t size, struct decoded *out)
{
	MCInst inst;
	uint64_t length = 0;
	MCDisassembler::DecodeStatus status =
		d->disassembler->getInstruction(inst, length, ArrayRef<uint8_t>(bytes, size), pc, nulls());

	out->pc = pc;
	out->target = 0;
	out->form = inst.getOpcode();
	out->flags = 0;
	out->prefixes = inst.getFlags();
	out->length = static_cast<uint8_t>(std::min<uint64_t>(std::max<uint64_t>(length, 1), 255));
	out->nr_operands = out->nr_explicit = out->nr_defs = out->nr_resources = 0;
	out->uops = 0;
	out->latency = 0;
	if (status == MCDisassembler::Fail || length > size)
		return false;

	const MCInstrDesc &desc = d->forms->get(inst.getOpcode());
	out->flags = (desc.mayLoad() ? DECODED_LOAD : 0) | (desc.mayStore() ? DECODED_STORE : 0) |
		(desc.isBranch() ? DECODED_BRANCH : 0) | (desc.isConditionalBranch() ? DECODED_CONDITIONAL : 0) |
		(desc.isCall() ? DECODED_CALL : 0) | (desc.isReturn() ? DECODED_RETURN : 0);
	take_operands(inst, desc, out);
	take_costs(*d, inst, desc, out);
	take_analysis(*d, inst, out);
	return true;
}

int decoder_text(struct decoder *d, uint64_t pc, const uint8_t *bytes, size_t size, char *buf, size_t buf_size)
{
	MCInst inst;
	uint64_t length;
	SmallString<128> text;

	if (d->disassembler->getInstruction(inst, length, ArrayRef<uint8_t>(bytes, size), pc, nulls()) !=
	    MCDisassembler::Fail) {
		raw_svector_ostream stream(text);
		d->printer->printInst(&inst, pc, "", *d->cpu, stream);
	}
	if (buf_size) {
		size_t n = std::min(text.size(), buf_size - 1);
		std::memcpy(buf, text.data(), n);
		buf[n] = '\0';
	}
	return static_cast<int>(text.size());
}

unsigned decoder_nr_forms(const struct decoder *d)
{
	return d->forms->getNumOpcodes();
}

unsigned decoder_nr_registers(const struct decoder *d)
{
	return d->registers->getNumRegs();
}

unsigned decoder_nr_resources(const struct decoder *d)
{
	return d->cpu->getSchedModel().hasInstrSchedModel() ? d->cpu->getSchedModel().getNumProcResourceKinds() : 0;
}

const char *decoder_form(const struct decoder *d, unsigned form)
{
	return d->forms->getName(form).data();
}

const char *decoder_register(const struct decoder *d, unsigned reg)
{
	return d->registers->getName(reg);
}

const char *decoder_resource(const struct decoder *d, unsigned resource)
{
	return d->cpu->getSchedModel().getProcResource(resource)->Name;
}

const char *decoder_class(const struct decoder *d, unsigned reg_class)
{
	return d->registers->getRegClassName(&d->registers->getRegClass(reg_class));
}
