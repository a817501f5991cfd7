import type { ComponentChildren, VNode } from 'preact';
import { CopyButton } from './copy-button.tsx';

interface BlockProps {
  readonly title: string;
  /** text is what the button copies. */
  readonly text: string;
  readonly children: ComponentChildren;
}

/** Block is one text of a call with its title and a button that copies the text. */
export function Block({ title, text, children }: BlockProps): VNode {
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
