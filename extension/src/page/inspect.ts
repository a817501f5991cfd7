// Collects the secret fields that the server must consider before a call may act in the frame.
import { findField } from './edit.ts';
import { focusedElement } from './flat-tree.ts';
import type { InspectArguments, InspectResult, SecretKind } from './secret-kind.ts';
import { secretKind, visibleSecretKinds } from './secrets.ts';
import type { Context } from './state.ts';

/**
 * inspect implements the page script operation `inspect`, which finds secret fields. A ref without an element is
 * ignored, because the call itself reports the stale ref.
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
