import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const CopiedShownMs = 2000;

interface CopyButtonProps {
  readonly text: string;
  /** The field `label` describes the copied text to screen readers. */
  readonly label: string;
  readonly children?: string;
}

export function CopyButton({ text, label, children = 'Copy' }: CopyButtonProps): VNode {
  const [outcome, setOutcome] = useState<string>();
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), CopiedShownMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copyText = () =>
    navigator.clipboard.writeText(text).then(
      () => setOutcome('Copied'),
      () => setOutcome('Not copied'), // if the clipboard is unavailable, the user can still select the text
    );
  return (
    <>
      <button type="button" class="copy" aria-label={`${outcome ?? 'Copy'} ${label}`} onClick={() => void copyText()}>
        {outcome ?? children}
      </button>
      <span class="unseen" role="status">
        {outcome && `${outcome}: ${label}`}
      </span>
    </>
  );
}
