import type { ComponentChildren, VNode } from 'preact';
import { CopyButton } from './copy-button.tsx';

interface TextBlockProps {
  readonly title: string;
  readonly blockText: string;
  readonly children: ComponentChildren;
}

export function TextBlock({ title, blockText, children }: TextBlockProps): VNode {
  return (
    <div class="block">
      <div class="head">
        <h3>{title}</h3>
        <CopyButton copiedText={blockText} label={title.toLowerCase()} />
      </div>
      {children}
    </div>
  );
}
