import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const CopiedNoteShownMs = 2000;

interface CopyButtonProps {
  readonly copiedText: string;
  /** The field `label` describes the copied text to screen readers. */
  readonly label: string;
  readonly children?: string;
}

export function CopyButton({ copiedText, label, children = 'Copy' }: CopyButtonProps): VNode {
  const [copyOutcome, setOutcome] = useState<string>();
  useEffect(() => {
    if (copyOutcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), CopiedNoteShownMs);
    return () => clearTimeout(timer);
  }, [copyOutcome]);
  const copyText = () =>
    navigator.clipboard.writeText(copiedText).then(
      () => setOutcome('Copied'),
      () => setOutcome('Not copied'), // if the clipboard is unavailable, the user can still select the text
    );
  return (
    <>
      <button
        type="button"
        class="copy"
        aria-label={`${copyOutcome ?? 'Copy'} ${label}`}
        onClick={() => void copyText()}
      >
        {copyOutcome ?? children}
      </button>
      <span class="unseen" role="status">
        {copyOutcome && `${copyOutcome}: ${label}`}
      </span>
    </>
  );
}
