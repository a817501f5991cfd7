// Defines the requests of the page script for trusted input.
import type { Modifier, MouseButton } from './operations.ts';

/**
 * InputRequest is trusted input that a page script operation requests from the worker, which uses the debugger.
 * Points are relative to the viewport of the frame.
 */
export type InputRequest =
  | {
      readonly kind: 'move' | 'press' | 'release';
      readonly x: number;
      readonly y: number;
      readonly button: MouseButton;
      /** count is the number of the click, such as 2 for the second click of a double click; 0 for a move. */
      readonly count: number;
      readonly modifiers: readonly Modifier[];
    }
  /** Presses and releases a key together with modifier keys. `commands` are editing commands of macOS. */
  | {
      readonly kind: 'key';
      readonly key: string;
      readonly code: string;
      readonly keyCode: number;
      /** text is the text that the key types, or empty if the key types nothing. */
      readonly text: string;
      readonly modifiers: readonly Modifier[];
      readonly commands: readonly string[];
    }
  /** Inserts text that no key of the keyboard types. */
  | { readonly kind: 'text'; readonly text: string }
  /**
   * Focuses the frame, so that its focused element receives the keys, or ends the focus emulation of trusted input.
   */
  | { readonly kind: 'focus' | 'leave' };
