// Collects the facts about a frame that the permission gate of the server needs before a call acts in the frame.
import { findField } from './edit.ts';
import { focusedElement } from './flat-tree.ts';
import type { InspectArguments, InspectResult, SecretKind } from './secret-kind.ts';
import { secretKind, visibleSecretKinds } from './secrets.ts';
import type { Context } from './state.ts';

/**
 * inspect implements the page script operation inspect. inspect ignores a ref without an element, because the call
 * itself reports the stale ref.
 */
export async function inspect({ targets, focused }: InspectArguments, context: Context): Promise<InspectResult> {
  const typed = new Set<SecretKind>();
  const addField = (element: Element) => {
    const kind = secretKind(findField(element) ?? element);
    if (kind) typed.add(kind);
  };
  for (const target of targets) {
    const element = context.state.refs.find(target, context.prefix);
    if (element instanceof Element) addField(element);
  }
  const focus = focused ? focusedElement() : null;
  if (focus) addField(focus);
  return { shown: visibleSecretKinds(), typed: [...typed].sort() };
}
