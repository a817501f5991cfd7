// Defines how the page script requests trusted input.
import type { Modifier, MouseButton } from './operations.ts';

/** The coordinates of trusted input are relative to the viewport of the frame. */
export type InputRequest =
  | {
      readonly kind: 'move' | 'press' | 'release';
      readonly x: number;
      readonly y: number;
      readonly button: MouseButton;
      /**
       * The field `count` is the position of the click in a series, such as 2 for the second click of a double click,
       * or 0 for a move.
       */
      readonly count: number;
      readonly modifiers: readonly Modifier[];
    }
  /** `commands` contains macOS editing commands, such as "selectAll". */
  | {
      readonly kind: 'key';
      readonly key: string;
      readonly code: string;
      readonly keyCode: number;
      /** The field `text` is the text that the pressed key types, such as "a", or empty for keys such as Enter. */
      readonly text: string;
      readonly modifiers: readonly Modifier[];
      readonly commands: readonly string[];
    }
  | { readonly kind: 'text'; readonly text: string }
  /** The kind 'leave' ends the focus emulation of trusted input. */
  | { readonly kind: 'focus' | 'leave' };
