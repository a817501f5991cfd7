import type * as chromeBase from '../../../chrome.ts';
import type * as chromeScripts from '../../../chrome-scripts.ts';
import { sleep } from '../../../within.ts';
import { findSyntaxError, SYNTAX_CHECK_WORLD } from '../../delivery/syntax.ts';
import { readChoice, readText, requireText } from '../arguments.ts';
import type { BrowserCall, BrowserResult } from '../browser-tool.ts';
import { type Debuggers, debuggerInstallTexts } from '../debugger/debuggers.ts';
import type { FrameTarget, TabFrames } from '../tab-frames.ts';
import {
  type FailureTexts,
  makeCallFailure,
  makeDocumentGoneFailure,
  StillRunningFailure,
  ToolFailure,
  toolFailure,
} from '../tool-failure.ts';
import { DebuggerPrefixCharacters, evaluateWithDebugger } from './evaluate-debugger.ts';
import {
  type EvaluateAnswer,
  MaxResultCharacters,
  makeEvaluateScript,
  makeScriptExpression,
  makeSharedElementExpression,
  readEvaluateAnswer,
} from './evaluate-script.ts';
import type { TextParts } from './text-parts.ts';

const EvaluateTimeoutMs = 60_000;
/**
 * DocumentCheckIntervalMs is the interval at which browser_evaluate checks whether the page still answers, in
 * milliseconds.
 */
const DocumentCheckIntervalMs = 1000;
const EvaluateWorldName = 'evaluate';

export type EvaluateBrowser = Pick<typeof chromeScripts, 'runInPage' | 'areUserScriptsAllowed'> &
  Pick<typeof chromeBase, 'readTabState'>;

export interface EvaluateRequest {
  readonly call: BrowserCall;
  readonly frame: FrameTarget;
  readonly code: string;
  readonly world: 'main' | 'isolated';
  /** The field `target` is the ref of the element that the agent's function receives as argument. */
  readonly target: string | undefined;
}

export class ScriptEvaluator {
  readonly #browser: EvaluateBrowser;
  readonly #frames: TabFrames;
  readonly #debuggers: Debuggers;
  readonly #parts: TextParts;

  constructor(browser: EvaluateBrowser, frames: TabFrames, debuggers: Debuggers, textParts: TextParts) {
    this.#browser = browser;
    this.#frames = frames;
    this.#debuggers = debuggers;
    this.#parts = textParts;
  }

  async evaluate(call: BrowserCall): Promise<BrowserResult> {
    const cursor = readText(call.args, 'cursor');
    if (cursor !== undefined) {
      // The server treats a call with a cursor as read-only, so browser_evaluate must not run code in such a call.
      if (call.args.function !== undefined)
        throw makeCallFailure('invalid_arguments', 'browser_evaluate needs either function or cursor');
      const { text: partText, sentences: partSentences } = this.#parts.readNextPart(call, cursor);
      return { text: partSentences.join(' '), content: partText };
    }
    const code = requireText(call.args, 'function');
    const scriptWorld = readChoice(call.args, 'world', ['main', 'isolated']) ?? 'main';
    const target = readText(call.args, 'target');
    const frame = target === undefined ? await this.#frames.top(call) : await this.#frames.findFrameByRef(call, target);
    const request = { call, frame, code, world: scriptWorld, target };
    const evaluateAnswer = await this.#awaitScriptAnswer(request, this.#run(request));
    return this.#makeResult(call, evaluateAnswer);
  }

  #makeResult(call: BrowserCall, evaluateAnswer: EvaluateAnswer): BrowserResult {
    if (evaluateAnswer.kind === 'undefined') return { text: 'The function returned undefined.' };
    if (evaluateAnswer.kind === 'error') throw makeScriptFailure(evaluateAnswer);
    const { text: partText, sentences: partSentences } = this.#parts.readFirstPart(call, evaluateAnswer.json);
    const resultNotes = [
      ...(evaluateAnswer.hasReplacedValues
        ? ['Values without a form in JSON are written as text, such as "[circular]".']
        : []),
      ...(evaluateAnswer.isTruncated ? [`The result ends after ${MaxResultCharacters} characters; return less.`] : []),
    ];
    return { text: ['Result as JSON.', ...resultNotes, ...partSentences].join(' '), content: partText };
  }

  /** #awaitScriptAnswer throws if the call is cancelled, the document is replaced, or EvaluateTimeoutMs has passed. */
  async #awaitScriptAnswer<T>({ call, frame }: EvaluateRequest, answerPromise: Promise<T>): Promise<T> {
    const endedController = new AbortController();
    const signal = AbortSignal.any([call.signal, endedController.signal]);
    try {
      return await Promise.race([answerPromise, this.#watchDocument(frame, signal), rejectAtTimeout(signal)]);
    } catch (error) {
      if (call.signal.aborted) throw new StillRunningFailure(makeCallFailure('cancelled', scriptMayContinueText).error);
      throw error;
    } finally {
      endedController.abort();
      answerPromise.catch(() => undefined);
    }
  }

  /** #watchDocument rejects when the document no longer exists, or when an open dialog blocks the document. */
  async #watchDocument(frame: FrameTarget, signal: AbortSignal): Promise<never> {
    for (;;) {
      await sleep(DocumentCheckIntervalMs, signal);
      try {
        await this.#frames.run({ signal, report: () => undefined }, frame, 'facts', {});
      } catch (error) {
        throw markCodeStarted(error);
      }
    }
  }

  async #run(request: EvaluateRequest): Promise<EvaluateAnswer> {
    const { call, frame, code, world: scriptWorld, target } = request;
    const name = target === undefined ? undefined : (await this.#frames.run(call, frame, 'lend', { target })).name;
    const script = makeEvaluateScript(code, name === undefined ? 'undefined' : makeSharedElementExpression(name));
    call.signal.throwIfAborted();
    const worldId = scriptWorld === 'main' ? undefined : EvaluateWorldName;
    let value: unknown;
    try {
      value = await this.#browser.runInPage(frame, [script], worldId);
    } catch (error) {
      // Without the permission for user scripts, Chrome rejects the script before running it. Unlike Chrome's scripting
      // API, the debugger can run the script without the permission for user scripts.
      if (await this.#browser.areUserScriptsAllowed()) throw await this.#explainFailure(request, error);
      return await this.#evaluateByDebugger(request);
    }
    const evaluateAnswer = readEvaluateAnswer(value, code);
    if (evaluateAnswer) return evaluateAnswer;
    // If Chrome cannot parse the agent's code, the injection result has no value.
    const syntaxProblem = await findSyntaxError(
      (scripts) => this.#browser.runInPage(frame, scripts, SYNTAX_CHECK_WORLD),
      makeScriptExpression(code),
    );
    if (syntaxProblem)
      throw makeSyntaxFailure(syntaxProblem.line, `: ${syntaxProblem.message.replace(/^Uncaught /, '')}`);
    // The injected script has no result if a navigation has replaced the document while the script was running.
    throw (await this.#findDocumentFailure(request)) ?? makeNoAnswerFailure(scriptWorld);
  }

  async #evaluateByDebugger(request: EvaluateRequest): Promise<EvaluateAnswer> {
    if (this.#debuggers.state === 'absent') throw toolFailure('needs_user_scripts', userScriptsOffTexts);
    let value: unknown;
    try {
      value = await evaluateWithDebugger(this.#debuggers, this.#frames, request, EvaluateTimeoutMs);
    } catch (error) {
      if (error instanceof ToolFailure) throw error;
      // When a document ends, Chrome notifies the debugger earlier than other listeners.
      if (/navigated|destroyed|Cannot find context/i.test(String(error)))
        throw makeDocumentGoneFailure(await this.#browser.readTabState(request.call.tabId), true);
      throw await this.#explainFailure(request, error);
    }
    const evaluateAnswer = readEvaluateAnswer(value, request.code, DebuggerPrefixCharacters);
    if (evaluateAnswer) return evaluateAnswer;
    throw makeNoAnswerFailure(request.world);
  }

  async #explainFailure(request: EvaluateRequest, error: unknown): Promise<unknown> {
    const reason = error instanceof Error ? error.message : String(error);
    const failure = toolFailure('not_found', `Chrome did not run the code in this page (${reason}). Use another page`);
    return (await this.#findDocumentFailure(request)) ?? failure;
  }

  async #findDocumentFailure({ call, frame }: EvaluateRequest): Promise<ToolFailure | undefined> {
    const tabState = await this.#browser.readTabState(call.tabId);
    const frames = tabState === 'open' ? await this.#frames.list({ ...call, documentId: '' }).catch(() => []) : [];
    return frames.some(({ documentId }) => documentId === frame.documentId)
      ? undefined
      : makeDocumentGoneFailure(tabState, true);
  }
}

const scriptMayContinueText = 'the wait for the code has ended, but the code may go on in the page';

const userScriptsOffTexts: FailureTexts = {
  forAgent:
    'browser_evaluate needs the switch "Allow User Scripts" of Chrome, or the debugger. Ask the user to turn on "Allow ' +
    `User Scripts" in the details of opentabs in chrome://extensions. ${debuggerInstallTexts.forAgent}`,
  forUser:
    'browser_evaluate needs the switch "Allow User Scripts" of Chrome, or the debugger. Turn on "Allow User Scripts" in ' +
    `the details of opentabs in chrome://extensions. ${debuggerInstallTexts.forUser}`,
};

async function rejectAtTimeout(signal: AbortSignal): Promise<never> {
  await sleep(EvaluateTimeoutMs, signal);
  throw new StillRunningFailure(
    toolFailure(
      'still_running',
      `the function has not returned within ${EvaluateTimeoutMs / 1000} s; ${scriptMayContinueText}. Return earlier, and read the result ` +
        'in another call',
    ).error,
  );
}

/** markCodeStarted marks an error so that the server does not run the agent's code again. */
function markCodeStarted(error: unknown): unknown {
  if (!(error instanceof ToolFailure) || error.error.notStarted !== true) return error;
  const { notStarted: _, message: errorMessage, ...otherFields } = error.error;
  return new ToolFailure({ ...otherFields, message: `${errorMessage}; the code may have run` });
}

function makeScriptFailure({ message: errorMessage, line, column }: EvaluateAnswer & { kind: 'error' }): ToolFailure {
  const positionText = line === undefined ? '' : ` at line ${line}, column ${column}`;
  return toolFailure('script_error', `the function threw an error${positionText}`, quoteError(errorMessage));
}

/** quoteError returns the page text of a failure, because the page can determine the text of an error. */
export function quoteError(errorMessage: string): string {
  return `the error was: ${JSON.stringify(errorMessage)}`;
}

/** The parameter `pageText` is the text of an error that the page may have thrown. */
export function makeSyntaxFailure(line: number, reason: string, pageText?: string): ToolFailure {
  return makeCallFailure(
    'invalid_arguments',
    `the function cannot be parsed${reason} (line ${line}). Give a function such as () => document.title, or an ` +
      'expression',
    pageText,
  );
}

function makeNoAnswerFailure(scriptWorld: 'main' | 'isolated'): ToolFailure {
  const retryHint = scriptWorld === 'main' ? '. Try again with world "isolated", which the page cannot change' : '';
  return toolFailure('script_error', `the page changed the result of the code, or runs no scripts${retryHint}`);
}
