// Defines how the page script requests trusted input.
import type { Modifier, MouseButton } from './operations.ts';

/**
 * InputRequest is a request of a page script operation for trusted input, which the worker sends through the debugger.
 * The coordinates of trusted input are relative to the viewport of the frame.
 */
export type InputRequest =
  | {
      readonly kind: 'move' | 'press' | 'release';
      readonly x: number;
      readonly y: number;
      readonly button: MouseButton;
      /**
       * count is the number of the click in a series, such as 2 for the second click of a double click; 0 for a move.
       */
      readonly count: number;
      readonly modifiers: readonly Modifier[];
    }
  /**
   * Presses and releases a key together with modifier keys. `commands` contains macOS editing commands, such as
   * "selectAll".
   */
  | {
      readonly kind: 'key';
      readonly key: string;
      readonly code: string;
      readonly keyCode: number;
      /** text is the text that the pressed key types, such as "a"; empty for keys such as Enter. */
      readonly text: string;
      readonly modifiers: readonly Modifier[];
      readonly commands: readonly string[];
    }
  /** Inserts text that no key on the keyboard types. */
  | { readonly kind: 'text'; readonly text: string }
  /**
   * The kind 'focus' moves the focus to the frame, so that the frame's focused element receives key events. The kind
   * 'leave' ends the focus emulation of trusted input.
   */
  | { readonly kind: 'focus' | 'leave' };
