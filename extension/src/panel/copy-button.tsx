import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** CopiedShownMs is how long a copy button shows "Copied" after a click, in milliseconds. */
const CopiedShownMs = 2000;

interface CopyButtonProps {
  /** text is copied to the clipboard when the user clicks the copy button. */
  readonly text: string;
  /** label describes the copied text to screen readers. */
  readonly label: string;
  /** children is the caption of the copy button; "Copy" by default. */
  readonly children?: string;
}

/** CopyButton copies a text to the clipboard, and shows "Copied" for two seconds. */
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
