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
  LastUsedNumbers,
  PageAnswer,
  PageCalls,
  PageFactsResult,
  PageOperationName,
  PageOperationOf,
  PageProgress,
} from './operations.ts';
import { readContent } from './read.ts';
import { locateElement } from './ready.ts';
import { scroll } from './scroll.ts';
import { select } from './select.ts';
import { readDocumentTitle, readSnapshot } from './snapshot.ts';
import { DocumentState, type PageContext } from './state.ts';
import { runStorageOperation } from './storage.ts';
import { readStyles } from './styles.ts';
import { TrustedInput } from './trusted.ts';
import { fill, press, type } from './typing.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { upload } from './upload.ts';
import { waitFor } from './wait-for.ts';

type OperationHandlers = {
  [N in PageOperationName]: (args: PageCalls[N]['arguments'], context: PageContext) => Promise<PageCalls[N]['result']>;
};

const handlers: OperationHandlers = {
  snapshot: readSnapshot,
  find,
  read: readContent,
  facts: readPageFacts,
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

/** continueNumbering must be called before the first operation of a document. */
export function continueNumbering(numbers: LastUsedNumbers): void {
  documentState.continueNumbering(numbers);
}

export function readLastNumbers(): LastUsedNumbers {
  return documentState.lastNumbers;
}

/**
 * executeOperation executes one page script operation and returns the answer in a promise that never rejects. `report`
 * may be called at any time until the operation ends. Without askInput, operations dispatch only synthetic events.
 */
export async function executeOperation<N extends PageOperationName>(
  operation: PageOperationOf<N>,
  report: (progress: PageProgress) => void,
  signal: AbortSignal,
  askInput?: (request: InputRequest) => Promise<boolean>,
): Promise<PageAnswer<N>> {
  const trustedInput = askInput && new TrustedInput(askInput, signal);
  let progressText = '';
  const setProgressText = (text: string) => {
    progressText = text;
  };
  try {
    signal.throwIfAborted();
    const handler: OperationHandlers[N] = handlers[operation.name];
    if (!handler) throw new PageFailure('invalid_arguments', `The page script has no operation "${operation.name}".`);
    let hasActed = false;
    const markActed = () => {
      if (!hasActed) report({ message: '', doneSteps: 0 });
      hasActed = true;
    };
    const context: PageContext = {
      state: documentState,
      prefix: operation.prefix,
      report,
      signal,
      setProgressText,
      markActed,
      trustedInput,
    };
    return { ok: true, result: await handler(operation.arguments, context) };
  } catch (error) {
    return { ok: false, error: toPageError(error, signal, progressText) };
  } finally {
    await trustedInput?.endFocusEmulation();
  }
}

async function readPageFacts(): Promise<PageFactsResult> {
  return {
    url: location.href,
    title: readDocumentTitle(),
    readyState: unclobberedDocument.readyState,
    index: findIndexInParent(),
    hasFocus: unclobberedDocument.hasFocus(),
    visibility: unclobberedDocument.visibilityState,
    size: { width: innerWidth, height: innerHeight },
  };
}
