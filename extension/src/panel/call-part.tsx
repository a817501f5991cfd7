import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { CallInspectResult } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import type { LoadedDetails } from './use-call-details.ts';

interface CallSectionProps {
  readonly title: string;
  readonly loadedDetails: LoadedDetails;
  children(details: CallInspectResult): ComponentChildren;
}

/** CallSection loads the details of a call only when the user expands the section. */
export function CallSection({ title, loadedDetails, children }: CallSectionProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const toggleSection = (isExpanded: boolean) => {
    setOpen(isExpanded);
    if (isExpanded) loadedDetails.loadDetails();
  };
  return (
    <details class="part" onToggle={(event) => toggleSection(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && loadedDetails.callDetails && children(loadedDetails.callDetails)}
      <p class="note" role="status">
        {isOpen && !loadedDetails.callDetails && loadedDetails.error === '' && 'Loading…'}
      </p>
      {isOpen && <ErrorText errorText={loadedDetails.error} />}
    </details>
  );
}
