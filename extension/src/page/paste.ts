// Inserts text into editors that use the EditContext API. An editor with an EditContext draws its text itself, so a
// script cannot insert text through the DOM.
import { PageFailure } from './failure.ts';
import { parseKey, sendKey } from './keys.ts';
import { focusElement } from './pointer.ts';

export function readEditContextText(element: Element): string | undefined {
  const context: unknown = Reflect.get(element, 'editContext');
  const pastedText: unknown =
    typeof context === 'object' && context !== null ? Reflect.get(context, 'text') : undefined;
  return typeof pastedText === 'string' ? pastedText : undefined;
}

export function pasteText(editorElement: Element, pastedText: string, shouldAppend: boolean): void {
  focusElement(editorElement);
  sendKey(editorElement, 'keydown', parseKey(shouldAppend ? 'Control+End' : 'Control+a'));
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', pastedText);
  const pasteEvent = new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true, clipboardData });
  if (editorElement.dispatchEvent(pasteEvent))
    throw new PageFailure(
      'rejected',
      'The editor did not accept the text. It may accept only trusted keys, which require the debugger.',
    );
}
