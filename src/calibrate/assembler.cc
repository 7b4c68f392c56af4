/*
 * The other file that sees LLVM, beside isa/llvm.cc: its assembler behind the plain-C interface of assembler.h.
 *
 * A text becomes an object file in memory, of which the bytes of .text are taken. Fix-ups that the object file would
 * leave to a linker are an error: kernels are whole in themselves.
 */
#include "calibrate/assembler.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

extern "C" {
#include "base/error.h"
}

using namespace llvm;

namespace {

const char triple_name[] = "x86_64-unknown-linux-gnu";

/* LLVM's first complaint about a text, in place of its printing all of them. */
void keep_first(const SMDiagnostic &d, void *first)
{
	std::string *s = static_cast<std::string *>(first);

	if (s->empty())
		*s = (d.getMessage() + ": " + d.getLineContents()).str();
}

std::string host_features()
{
	std::string features;

	for (const auto &f : sys::getHostCPUFeatures())
		features += (features.empty() ? "" : ",") + std::string(f.second ? "+" : "-") + f.first().str();
	return features;
}

} // namespace

struct assembler {
	Triple triple{triple_name};
	const Target *target = nullptr;
	MCTargetOptions options;
	std::unique_ptr<MCRegisterInfo> registers;
	std::unique_ptr<MCAsmInfo> assembly;
	std::unique_ptr<MCInstrInfo> forms;
	std::unique_ptr<MCSubtargetInfo> cpu;
	std::unique_ptr<MCContext> context;         /* of the disassembler and the emitter */
	std::unique_ptr<MCDisassembler> disassembler;
	std::unique_ptr<MCCodeEmitter> emitter;
};

int assembler_new(struct assembler **out)
{
	std::string why;

	*out = nullptr;
#ifndef __x86_64__
	return error_set(ENOTSUP, "calibrate", "it measures x86-64 processors, and this is another");
#endif
	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmParser();
	LLVMInitializeX86Disassembler();
	std::unique_ptr<assembler> as(new assembler);
	as->target = TargetRegistry::lookupTarget(triple_name, why);
	if (!as->target)
		return error_set(ENOENT, triple_name, "LLVM has no such target");
	as->registers.reset(as->target->createMCRegInfo(triple_name));
	as->assembly.reset(as->target->createMCAsmInfo(*as->registers, triple_name, as->options));
	as->forms.reset(as->target->createMCInstrInfo());
	as->cpu.reset(as->target->createMCSubtargetInfo(triple_name, "x86-64", host_features()));
	as->context.reset(new MCContext(as->triple, as->assembly.get(), as->registers.get(), as->cpu.get()));
	as->disassembler.reset(as->target->createMCDisassembler(*as->cpu, *as->context));
	as->emitter.reset(as->target->createMCCodeEmitter(*as->forms, *as->context));
	*out = as.release();
	return 0;
}

void assembler_free(struct assembler *as)
{
	delete as;
}

/* The bytes of .text of the object file in `object`. */
static int take_text(StringRef object, uint8_t *bytes, size_t size, size_t *length)
{
	Expected<std::unique_ptr<object::ObjectFile>> file =
		object::ObjectFile::createELFObjectFile(MemoryBufferRef(object, "kernel"));

	if (!file) {
		consumeError(file.takeError());
		return error_set(EINVAL, "kernel", "LLVM's object file cannot be read");
	}
	for (const object::SectionRef &section : (*file)->sections()) {
		Expected<StringRef> name = section.getName(), contents = section.getContents();
		bool text = name && contents && *name == ".text";

		if (name && *name == ".rela.text")
			return error_set(EINVAL, "kernel", "it refers to something outside itself");
		if (text && contents->size() > size)
			return error_set(ENOSPC, "kernel", "%zu bytes of code, of which %zu fit", contents->size(),
			                 size);
		if (text) {
			std::memcpy(bytes, contents->data(), contents->size());
			*length = contents->size();
		}
		if (!name)
			consumeError(name.takeError());
		if (!contents)
			consumeError(contents.takeError());
	}
	return 0;
}

int assembler_text(struct assembler *as, const char *text, uint8_t *bytes, size_t size, size_t *length)
{
	std::string complaint;
	SmallString<0> object;
	raw_svector_ostream stream(object);
	SourceMgr source;

	source.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(text, "kernel"), SMLoc());
	source.setDiagHandler(keep_first, &complaint);
	MCContext context(as->triple, as->assembly.get(), as->registers.get(), as->cpu.get(), &source, &as->options);
	std::unique_ptr<MCObjectFileInfo> sections(as->target->createMCObjectFileInfo(context, /*PIC=*/true));
	context.setObjectFileInfo(sections.get());
	std::unique_ptr<MCAsmBackend> backend(as->target->createMCAsmBackend(*as->cpu, *as->registers, as->options));
	std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(stream);
	std::unique_ptr<MCCodeEmitter> emitter(as->target->createMCCodeEmitter(*as->forms, context));
	std::unique_ptr<MCStreamer> streamer(as->target->createMCObjectStreamer(as->triple, context, std::move(backend),
		std::move(writer), std::move(emitter), *as->cpu));
	std::unique_ptr<MCAsmParser> parser(createMCAsmParser(source, context, *streamer, *as->assembly));
	std::unique_ptr<MCTargetAsmParser> target(
		as->target->createMCAsmParser(*as->cpu, *parser, *as->forms, as->options));
	parser->setTargetParser(*target);
	*length = 0;
	if (parser->Run(/*NoInitialTextSection=*/false) || context.hadError())
		return error_set(EINVAL, "kernel", "%s",
		                 complaint.empty() ? "LLVM cannot assemble it" : complaint.c_str());
	return take_text(object, bytes, size, length);
}

int assembler_change(struct assembler *as, const uint8_t *bytes, size_t size, const struct operand_change *changes,
                     unsigned nr_changes, uint8_t out[ASSEMBLER_LONGEST])
{
	MCInst inst;
	uint64_t length = 0;
	SmallVector<char, 16> code;
	SmallVector<MCFixup, 2> fixups;

	if (as->disassembler->getInstruction(inst, length, ArrayRef<uint8_t>(bytes, size), 0, nulls()) ==
	    MCDisassembler::Fail)
		return -EINVAL;
	for (unsigned i = 0; i < nr_changes; i++) {
		const operand_change &c = changes[i];

		if (c.operand >= inst.getNumOperands())
			return -EINVAL;
		inst.getOperand(c.operand) = c.immediate ? MCOperand::createImm(c.imm) : MCOperand::createReg(c.reg);
	}
	as->emitter->encodeInstruction(inst, code, fixups, *as->cpu);
	if (!fixups.empty() || code.size() > ASSEMBLER_LONGEST)
		return -EINVAL;
	std::memcpy(out, code.data(), code.size());
	return static_cast<int>(code.size());
}
