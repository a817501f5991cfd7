import type { ComponentChildren, VNode } from 'preact';
import { CopyButton } from './copy-button.tsx';

interface BlockProps {
  readonly title: string;
  /** text is copied to the clipboard when the user clicks the copy button. */
  readonly text: string;
  readonly children: ComponentChildren;
}

/** TextBlock shows one text of a call, such as its result, with a title and a copy button. */
export function TextBlock({ title, text, children }: BlockProps): VNode {
  return (
    <div class="block">
      <div class="head">
        <h3>{title}</h3>
        <CopyButton text={text} label={title.toLowerCase()} />
      </div>
      {children}
    </div>
  );
}
