// Requests of the page script for trusted input.
import type { Modifier, MouseButton } from './operations.ts';

/**
 * InputRequest is input that an operation asks the worker to make with the debugger. The points are in the viewport of
 * the frame.
 */
export type InputRequest =
  | {
      readonly kind: 'move' | 'press' | 'release';
      readonly x: number;
      readonly y: number;
      readonly button: MouseButton;
      /** The number of clicks, such as 2 for the second click of a double click; 0 for a move. */
      readonly count: number;
      readonly modifiers: readonly Modifier[];
    }
  /** Presses and releases a key with its modifiers. `commands` are editing commands of macOS. */
  | {
      readonly kind: 'key';
      readonly key: string;
      readonly code: string;
      readonly keyCode: number;
      /** The text that the key types; empty if none. */
      readonly text: string;
      readonly modifiers: readonly Modifier[];
      readonly commands: readonly string[];
    }
  /** Inserts text that no key types. */
  | { readonly kind: 'text'; readonly text: string }
  /**
   * Focuses the frame, so that its focused element gets the keys, or ends the focus that the page has during trusted
   * input.
   */
  | { readonly kind: 'focus' | 'leave' };
