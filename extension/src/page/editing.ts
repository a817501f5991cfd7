// Performs the edits of a keyboard in the focused field, with the beforeinput events that the browser dispatches only
// for a user's edits.
import type { SecretKind } from './secret-kind.ts';
import { requireTypingApproval } from './secrets.ts';
import { unclobberedDocument } from './unclobbered.ts';

/** EditCommands maps each edit to the inputType of its beforeinput event, and to its execCommand command. */
const EditCommands = {
  text: { inputType: 'insertText', command: 'insertText' },
  line: { inputType: 'insertLineBreak', command: 'insertText' },
  paragraph: { inputType: 'insertParagraph', command: 'insertParagraph' },
  backspace: { inputType: 'deleteContentBackward', command: 'delete' },
  delete: { inputType: 'deleteContentForward', command: 'forwardDelete' },
} as const;

/** EditCommand is the name of an edit, such as "paragraph" for the key Enter in an editor. */
export type EditCommand = keyof typeof EditCommands;

/**
 * EditOutcome is "done" if the browser edited the field, and "failed" if the browser refused. "prevented" means that the
 * page prevented beforeinput: the page edits the field itself, or rejects the edit.
 */
export type EditOutcome = 'done' | 'failed' | 'prevented';

/**
 * performEdit edits the focused field. execCommand dispatches no beforeinput event, so performEdit dispatches one: an
 * editor with its own model of the text would otherwise miss the edit.
 */
export function performEdit(
  target: Element,
  edit: EditCommand,
  approvedKinds: readonly SecretKind[],
  insertedText = '',
): EditOutcome {
  const { inputType, command } = EditCommands[edit];
  const data = edit === 'text' ? insertedText : null;
  const init = { bubbles: true, cancelable: true, composed: true, inputType, data };
  if (!target.dispatchEvent(new InputEvent('beforeinput', init))) return 'prevented';
  requireTypingApproval(target, approvedKinds); // the page can move the focus during the event
  return unclobberedDocument.execCommand(command, false, edit === 'line' ? '\n' : insertedText) ? 'done' : 'failed';
}
