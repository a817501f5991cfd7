// Collects the secret fields that the server must consider before it allows a call to act in the frame.
import { findField } from './edit.ts';
import { getFocusedElement } from './flat-tree.ts';
import type { InspectArguments, InspectResult, SecretKind } from './secret-kind.ts';
import { findSecretKind, listVisibleSecretKinds } from './secrets.ts';
import type { PageContext } from './state.ts';

/** inspectSecretFields ignores a stale ref, because the call's own operation reports the stale ref later. */
export async function inspectSecretFields(
  { targets, focused }: InspectArguments,
  context: PageContext,
): Promise<InspectResult> {
  const typedSecretKinds = new Set<SecretKind>();
  const addField = (element: Element) => {
    const kind = findSecretKind(findField(element) ?? element);
    if (kind) typedSecretKinds.add(kind);
  };
  for (const target of targets) {
    const element = context.state.refs.find(target, context.prefix);
    if (element instanceof Element) addField(element);
  }
  const focusedElement = focused ? getFocusedElement() : null;
  if (focusedElement) addField(focusedElement);
  return { shown: listVisibleSecretKinds(), typed: [...typedSecretKinds].sort() };
}
