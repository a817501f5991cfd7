import type { CallError, ErrorCode } from '../../../../wire/wire.gen.ts';
import type { TabState } from '../../chrome.ts';
import { errorsByTabState, notStartedErrors } from '../calls/endings.ts';

/** ToolErrorCode is a machine-readable reason why a browser tool failed. */
export type ToolErrorCode =
  | 'stale_ref'
  | 'not_hittable'
  | 'wrong_element'
  | 'rejected'
  | 'needs_approval'
  | 'not_found'
  | 'not_typable'
  | 'dialog_open'
  | 'needs_debugger'
  | 'debugger_refused'
  | 'needs_permission'
  | 'needs_user_scripts'
  | 'script_error'
  | 'still_running'
  | 'timeout'
  | 'invalid_url'
  | 'navigation_failed'
  | 'download_failed';

const retryableCodes: ReadonlySet<ToolErrorCode> = new Set([
  'not_hittable',
  'needs_approval',
  'dialog_open',
  'timeout',
  'navigation_failed',
  'download_failed',
]);

/** categoriesByCode maps some error codes to the matching category of the SDK's ToolError. */
const categoriesByCode: Readonly<Partial<Record<ToolErrorCode, string>>> = {
  invalid_url: 'validation',
  wrong_element: 'validation',
  not_typable: 'validation',
  not_found: 'not_found',
  stale_ref: 'not_found',
  timeout: 'timeout',
};

/** ToolFailure is the error that a failed browser tool throws. */
export class ToolFailure extends Error {
  readonly error: CallError;

  constructor(error: CallError) {
    super(error.message);
    this.name = 'ToolFailure';
    this.error = error;
  }
}

/**
 * StillRunningFailure is the error of a tool call that ended while code of the tool may still be running in the page.
 */
export class StillRunningFailure extends ToolFailure {}

export interface FailureTexts {
  readonly forAgent: string;
  /** The field `forUser` is the whole text for the user: what happened and what to do. */
  readonly forUser: string;
}

/**
 * The parameter `message` describes the problem and the agent's next step. `pageText` is text from the page about the
 * problem, which the server marks as untrusted.
 */
export function toolFailure(code: ToolErrorCode, message: string | FailureTexts, pageText?: string): ToolFailure {
  const category = categoriesByCode[code];
  const tool = { code, retryable: retryableCodes.has(code), ...(category === undefined ? {} : { category }) };
  return new ToolFailure({ code: 'tool_error', ...toTexts(message, pageText), tool });
}

/** makeCallFailure returns a failure with an error code that is not specific to browser tools. */
export function makeCallFailure(code: ErrorCode, message: string | FailureTexts, pageText?: string): ToolFailure {
  return new ToolFailure({ code, ...toTexts(message, pageText) });
}

/** If `code` is needs_approval, addUserText adds a text for the user, because `message` is for the agent. */
export function addUserText(code: ToolErrorCode, message: string): string | FailureTexts {
  if (code !== 'needs_approval') return message;
  return {
    forAgent: message,
    forUser:
      'You have not approved that the call types into a secret field, such as a password field. Nothing was typed ' +
      'into it. Call the tool again, then approve the call.',
  };
}

function toTexts(
  message: string | FailureTexts,
  pageText: string | undefined,
): Pick<CallError, 'message' | 'userText' | 'pageText'> {
  const texts = typeof message === 'string' ? { message } : { message: message.forAgent, userText: message.forUser };
  return { ...texts, ...(pageText === undefined ? {} : { pageText }) };
}

export function makeDocumentGoneFailure(state: TabState, hasStarted: boolean): ToolFailure {
  return new ToolFailure(hasStarted ? errorsByTabState[state] : { ...notStartedErrors[state], notStarted: true });
}

export function toCallError(thrownValue: unknown): CallError {
  if (thrownValue instanceof ToolFailure) return thrownValue.error;
  return { code: 'internal', message: thrownValue instanceof Error ? thrownValue.message : String(thrownValue) };
}
