// Runs the operations of operations.ts, and is the entry point of the page script.
import { changes, watch } from './act.ts';
import { click, hover } from './click.ts';
import { describe } from './describe.ts';
import { drag } from './drag.ts';
import { PageFailure, toPageError } from './failure.ts';
import { find } from './find.ts';
import { focusFrame, frameAreas, framePoint, indexInParent } from './frames.ts';
import { hit } from './hit.ts';
import type { InputRequest } from './input-request.ts';
import { inspect } from './inspect.ts';
import { lend } from './lend.ts';
import type {
  FactsResult,
  Operation,
  PageAnswer,
  PageCalls,
  PageNumbers,
  PageOperationName,
  PageProgress,
} from './operations.ts';
import { read } from './read.ts';
import { locate } from './ready.ts';
import { scroll } from './scroll.ts';
import { select } from './select.ts';
import { documentTitle, snapshot } from './snapshot.ts';
import { type Context, DocumentState } from './state.ts';
import { storage } from './storage.ts';
import { styles } from './styles.ts';
import { TrustedInput } from './trusted.ts';
import { fill, press, type } from './typing.ts';
import { unclobbered } from './unclobbered.ts';
import { upload } from './upload.ts';
import { waitFor } from './wait-for.ts';

type Handlers = {
  [N in PageOperationName]: (args: PageCalls[N]['arguments'], context: Context) => Promise<PageCalls[N]['result']>;
};

const handlers: Handlers = {
  snapshot,
  find,
  read,
  facts,
  inspect,
  describe,
  locate,
  frameAreas,
  framePoint,
  focusFrame,
  watch,
  changes,
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
  storage,
  hit,
  lend,
  styles,
};

const state = new DocumentState();

/**
 * beginAfter continues the element and snapshot numbers of the previous document in the same frame. beginAfter must be
 * called before the first operation.
 */
export function beginAfter(numbers: PageNumbers): void {
  state.beginAfter(numbers);
}

/** lastNumbers returns the highest element and snapshot numbers that the document has used. */
export function lastNumbers(): PageNumbers {
  return state.lastNumbers;
}

/**
 * run executes one page script operation and returns its answer, and never rejects. `report` may be called at any time
 * until run resolves. After the signal is aborted, run releases pressed keys and buttons, and answers with the code
 * cancelled. `askInput` requests trusted input, and resolves with true if the input was sent. Without askInput,
 * operations dispatch only synthetic events.
 */
export async function run<N extends PageOperationName>(
  operation: Operation<N>,
  report: (progress: PageProgress) => void,
  signal: AbortSignal,
  askInput?: (request: InputRequest) => Promise<boolean>,
): Promise<PageAnswer<N>> {
  const trusted = askInput && new TrustedInput(askInput, signal);
  let done = '';
  const setDone = (text: string) => {
    done = text;
  };
  try {
    signal.throwIfAborted();
    const handler: Handlers[N] = handlers[operation.name];
    if (!handler) throw new PageFailure('invalid_arguments', `The page script has no operation "${operation.name}".`);
    const context = { state, prefix: operation.prefix, report, signal, setDone, trusted };
    return { ok: true, result: await handler(operation.arguments, context) };
  } catch (error) {
    return { ok: false, error: toPageError(error, signal, done) };
  } finally {
    await trusted?.endFocusEmulation();
  }
}

async function facts(): Promise<FactsResult> {
  return {
    url: location.href,
    title: documentTitle(),
    readyState: unclobbered.readyState,
    index: indexInParent(),
    hasFocus: unclobbered.hasFocus(),
    visibility: unclobbered.visibilityState,
    size: { width: innerWidth, height: innerHeight },
  };
}
