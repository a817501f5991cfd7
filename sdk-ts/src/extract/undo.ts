import type { ManifestTool, ManifestUndo } from '../manifest.ts';
import { hasProperties, type Properties } from '../runtime/value.ts';
import type { ReportProblem } from './definition.ts';

// Reads a tool's `undo` field, which names another tool that undoes a call.

const undoPointerPattern = /^\/(input|result)(\/([^~/]|~[01])*)*$/;

export function readUndo(tool: Properties, report: ReportProblem): ManifestUndo | undefined {
  const { undo: toolUndo } = tool;
  if (toolUndo === undefined) return undefined;
  if (!hasProperties(toolUndo) || typeof toolUndo.tool !== 'string' || toolUndo.tool === '') {
    report("undo names no tool; write `undo: { tool: 'restore_item', input: { id: '/result/id' } }`");
    return undefined;
  }
  const input: Record<string, string> = {};
  const inputEntries = hasProperties(toolUndo.input)
    ? toolUndo.input
    : toolUndo.input === undefined
      ? {}
      : { input: toolUndo.input };
  for (const [name, inputPointer] of Object.entries(inputEntries)) {
    if (typeof inputPointer === 'string' && undoPointerPattern.test(inputPointer)) input[name] = inputPointer;
    else
      report(
        `undo.input.${name} is not a JSON Pointer that begins with /input or /result; write one such as '/result/id'`,
      );
  }
  return { tool: toolUndo.tool, ...(Object.keys(input).length > 0 && { input }) };
}

/** The server checks the arguments of the undo call. */
export function checkUndos(
  tools: readonly ManifestTool[],
  usedNames: ReadonlySet<string>,
  extractionProblems: string[],
): void {
  for (const { name, undo: toolUndo } of tools) {
    if (toolUndo?.tool === name)
      extractionProblems.push(`tool ${name}: undo.tool is the tool itself; name another tool`);
    else if (toolUndo && !usedNames.has(toolUndo.tool))
      extractionProblems.push(
        `tool ${name}: undo.tool is "${toolUndo.tool}", but the plugin has no such tool; name one of its tools`,
      );
  }
}
