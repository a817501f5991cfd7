import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { CallInspectResult } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import type { LoadedDetails } from './use-call-details.ts';

interface CallSectionProps {
  readonly title: string;
  readonly loaded: LoadedDetails;
  children(details: CallInspectResult): ComponentChildren;
}

/** CallSection loads the details of a call only when the user expands the section. */
export function CallSection({ title, loaded, children }: CallSectionProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const toggle = (isOpenNow: boolean) => {
    setOpen(isOpenNow);
    if (isOpenNow) loaded.load();
  };
  return (
    <details class="part" onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && loaded.details && children(loaded.details)}
      <p class="note" role="status">
        {isOpen && !loaded.details && loaded.error === '' && 'Loading…'}
      </p>
      {isOpen && <ErrorText text={loaded.error} />}
    </details>
  );
}
