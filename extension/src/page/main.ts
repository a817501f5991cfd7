// Runs the operations of operations.ts, and is the entry point of the page script.
import { readChanges, watch } from './act.ts';
import { click, hover } from './click.ts';
import { describeTarget } from './describe.ts';
import { drag } from './drag.ts';
import { PageFailure, toPageError } from './failure.ts';
import { find } from './find.ts';
import { findFramePoint, findIndexInParent, focusFrame, listFrameAreas } from './frames.ts';
import { describeElementAtPoint } from './hit.ts';
import type { InputRequest } from './input-request.ts';
import { inspectSecretFields } from './inspect.ts';
import { shareElement } from './lend.ts';
import type {
  FactsResult,
  PageAnswer,
  PageCalls,
  PageNumbers,
  PageOperationName,
  PageOperationOf,
  PageProgress,
} from './operations.ts';
import { readContent } from './read.ts';
import { locateElement } from './ready.ts';
import { scroll } from './scroll.ts';
import { select } from './select.ts';
import { readDocumentTitle, readSnapshot } from './snapshot.ts';
import { type Context, DocumentState } from './state.ts';
import { runStorageOperation } from './storage.ts';
import { readStyles } from './styles.ts';
import { TrustedInput } from './trusted.ts';
import { fill, press, type } from './typing.ts';
import { unclobbered } from './unclobbered.ts';
import { upload } from './upload.ts';
import { waitFor } from './wait-for.ts';

type Handlers = {
  [N in PageOperationName]: (args: PageCalls[N]['arguments'], context: Context) => Promise<PageCalls[N]['result']>;
};

const handlers: Handlers = {
  snapshot: readSnapshot,
  find,
  read: readContent,
  facts: readFacts,
  inspect: inspectSecretFields,
  describe: describeTarget,
  locate: locateElement,
  frameAreas: listFrameAreas,
  framePoint: findFramePoint,
  focusFrame,
  watch,
  changes: readChanges,
  click,
  hover,
  type,
  press,
  fill,
  select,
  drag,
  scroll,
  upload,
  waitFor,
  storage: runStorageOperation,
  hit: describeElementAtPoint,
  lend: shareElement,
  styles: readStyles,
};

const documentState = new DocumentState();

/** continueNumbers must be called before the first operation of a document. */
export function continueNumbers(numbers: PageNumbers): void {
  documentState.continueNumbers(numbers);
}

export function readLastNumbers(): PageNumbers {
  return documentState.lastNumbers;
}

/**
 * executeOperation executes one page script operation and returns its answer; its promise never rejects. `report` may
 * be called at any time until the operation ends. Without askInput, operations dispatch only synthetic events.
 */
export async function executeOperation<N extends PageOperationName>(
  operation: PageOperationOf<N>,
  report: (progress: PageProgress) => void,
  signal: AbortSignal,
  askInput?: (request: InputRequest) => Promise<boolean>,
): Promise<PageAnswer<N>> {
  const trustedInput = askInput && new TrustedInput(askInput, signal);
  let doneText = '';
  const setDone = (text: string) => {
    doneText = text;
  };
  try {
    signal.throwIfAborted();
    const handler: Handlers[N] = handlers[operation.name];
    if (!handler) throw new PageFailure('invalid_arguments', `The page script has no operation "${operation.name}".`);
    const context = { state: documentState, prefix: operation.prefix, report, signal, setDone, trusted: trustedInput };
    return { ok: true, result: await handler(operation.arguments, context) };
  } catch (error) {
    return { ok: false, error: toPageError(error, signal, doneText) };
  } finally {
    await trustedInput?.endFocusEmulation();
  }
}

async function readFacts(): Promise<FactsResult> {
  return {
    url: location.href,
    title: readDocumentTitle(),
    readyState: unclobbered.readyState,
    index: findIndexInParent(),
    hasFocus: unclobbered.hasFocus(),
    visibility: unclobbered.visibilityState,
    size: { width: innerWidth, height: innerHeight },
  };
}
