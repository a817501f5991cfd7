import type { ComponentChildren, VNode } from 'preact';

interface ScrollableProps {
  /** class is "pre" for text with preserved line ends, or another CSS class with a limited height. */
  readonly class: string;
  /** label names the content for screen readers. */
  readonly label: string;
  readonly children: ComponentChildren;
}

/**
 * Scrollable is a box with a limited height, which the user scrolls with the mouse or the arrow keys. A box without
 * a tab stop cannot be scrolled with the keyboard.
 */
export function Scrollable({ class: className, label, children }: ScrollableProps): VNode {
  const attributes = { class: className, role: 'group', 'aria-label': label, tabIndex: 0 } as const;
  return <div {...attributes}>{children}</div>;
}
