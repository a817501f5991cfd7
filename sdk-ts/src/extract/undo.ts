import type { ManifestTool, ManifestUndo } from '../manifest.ts';
import { hasProperties, type Properties } from '../runtime/value.ts';
import type { ReportProblem } from './definition.ts';

// Reads a tool's `undo` field, which names another tool that undoes a call.

const undoPointer = /^\/(input|result)(\/([^~/]|~[01])*)*$/;

export function readUndo(tool: Properties, report: ReportProblem): ManifestUndo | undefined {
  const { undo } = tool;
  if (undo === undefined) return undefined;
  if (!hasProperties(undo) || typeof undo.tool !== 'string' || undo.tool === '') {
    report("undo names no tool; write `undo: { tool: 'restore_item', input: { id: '/result/id' } }`");
    return undefined;
  }
  const input: Record<string, string> = {};
  const inputEntries = hasProperties(undo.input) ? undo.input : undo.input === undefined ? {} : { input: undo.input };
  for (const [name, pointer] of Object.entries(inputEntries)) {
    if (typeof pointer === 'string' && undoPointer.test(pointer)) input[name] = pointer;
    else
      report(
        `undo.input.${name} is not a JSON Pointer that begins with /input or /result; write one such as '/result/id'`,
      );
  }
  return { tool: undo.tool, ...(Object.keys(input).length > 0 && { input }) };
}

/** The server checks the arguments of the undo call. */
export function checkUndos(
  tools: readonly ManifestTool[],
  usedNames: ReadonlySet<string>,
  extractionProblems: string[],
): void {
  for (const { name, undo } of tools) {
    if (undo?.tool === name) extractionProblems.push(`tool ${name}: undo.tool is the tool itself; name another tool`);
    else if (undo && !usedNames.has(undo.tool))
      extractionProblems.push(
        `tool ${name}: undo.tool is "${undo.tool}", but the plugin has no such tool; name one of its tools`,
      );
  }
}
