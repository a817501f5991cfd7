import type { VNode } from 'preact';
import { CopyButton } from './copy-button.tsx';

export function CopyCommand({
  command,
  label = 'command',
}: {
  readonly command: string;
  readonly label?: string;
}): VNode {
  return (
    <div class="command">
      <code>{command}</code>
      <CopyButton copiedText={command} label={label} />
    </div>
  );
}
