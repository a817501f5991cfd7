import type { Fields } from '../../../record.ts';
import { readText } from '../arguments.ts';
import type { BrowserCall, BrowserResult } from '../browser-tool.ts';
import type { DebuggerSession, Debuggers } from '../debugger/debuggers.ts';
import { toolFailure } from '../tool-failure.ts';
import { type DebuggedFrame, type DebuggedFramesBrowser, readDebuggedFrames, toFields } from './debugged-frames.ts';
import { DebuggerWorldName } from './lent-nodes.ts';
import type { TextParts } from './text-parts.ts';

const MaxLines = 300;
const MaxUrlCharacters = 300;

interface Resource {
  readonly frame: DebuggedFrame;
  readonly url: string;
  /** The field `type` is Chrome's resource type in lower case, such as "script". */
  readonly type: string;
  readonly mimeType: string;
  /** The field `bytes` is the size of the resource, or 0 if the size is unknown. */
  readonly bytes: number;
  readonly isFailed: boolean;
}

/** Resources lists and reads the files that pages have loaded, such as documents, scripts, style sheets and images. */
export class Resources {
  readonly #browser: DebuggedFramesBrowser;
  readonly #debuggers: Debuggers;
  readonly #parts: TextParts;

  constructor(browser: DebuggedFramesBrowser, debuggers: Debuggers, parts: TextParts) {
    this.#browser = browser;
    this.#debuggers = debuggers;
    this.#parts = parts;
  }

  /**
   * With the argument url, `read` returns the content of one resource. If the argument url is missing, read lists all
   * resources.
   */
  async read(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const cursor = readText(args, 'cursor');
    if (cursor !== undefined) {
      const { text, words } = this.#parts.readNext(call, cursor);
      return { text: words.join(' '), content: text };
    }
    const [url = '', type = ''] = [readText(args, 'url'), readText(args, 'type')];
    return await this.#debuggers.use(call.tabId, ['children'], async (session) => {
      const { frames, leftOutCount } = await readDebuggedFrames(session, this.#browser, call);
      const resources = frames.flatMap(listFrameResources).filter((resource) => type === '' || resource.type === type);
      const exact = resources.find((resource) => resource.url === url);
      if (exact) return await this.#readBody(session, call, exact);
      return listResources(
        resources.filter((resource) => resource.url.includes(url)),
        leftOutCount,
      );
    });
  }

  async #readBody(session: DebuggerSession, call: BrowserCall, resource: Resource): Promise<BrowserResult> {
    const { frame, url, type, mimeType, bytes } = resource;
    const what = `${type} ${mimeType}`;
    const send = (method: string, params: Fields) => session.send(method, params, undefined, frame.childId);
    let answer: Fields;
    try {
      await send('Page.enable', {});
      answer = await send('Page.getResourceContent', { frameId: frame.frameId, url });
    } catch (error) {
      const { text, words } = this.#parts.storeAndReadFirst(call, await readPresentDocument(send, resource, error));
      return { text: [`${what} as it is now; Chrome no longer has the original.`, ...words].join(' '), content: text };
    }
    const content = String(answer.content ?? '');
    if (answer.base64Encoded === true) {
      const padding = content.endsWith('==') ? 2 : content.endsWith('=') ? 1 : 0;
      const size = (content.length / 4) * 3 - padding;
      return { text: `${what}: a binary file of ${size} bytes, which is not shown.` };
    }
    const { text, words } = this.#parts.storeAndReadFirst(call, content);
    return { text: [`${what}, ${bytes || content.length} bytes.`, ...words].join(' '), content: text };
  }
}

/** The parameter problem is the error that occurred when the worker tried to read the original HTML. */
async function readPresentDocument(
  send: (method: string, params: Fields) => Promise<Fields>,
  { frame, type }: Resource,
  problem: unknown,
): Promise<string> {
  if (type === 'document') {
    const { executionContextId } = await send('Page.createIsolatedWorld', {
      frameId: frame.frameId,
      worldName: DebuggerWorldName,
    });
    const expression = 'document.documentElement.outerHTML';
    const { value } = toFields((await send('Runtime.evaluate', { expression, contextId: executionContextId })).result);
    if (typeof value === 'string') return value;
  }
  const reason = problem instanceof Error ? problem.message : String(problem);
  throw toolFailure('not_found', `Chrome no longer has the content of this ${type} (${reason}). Reload the page first`);
}

function listFrameResources(frame: DebuggedFrame): Resource[] {
  const document = {
    frame,
    url: frame.url,
    type: 'document',
    mimeType: frame.mimeType,
    bytes: 0,
    isFailed: false,
  };
  const others = frame.resources.map((entry) => {
    const { url, type, mimeType, contentSize, failed } = toFields(entry);
    return {
      frame,
      url: String(url),
      type: String(type).toLowerCase(),
      mimeType: String(mimeType ?? ''),
      bytes: typeof contentSize === 'number' ? contentSize : 0,
      isFailed: failed === true,
    };
  });
  return [document, ...others];
}

function listResources(resources: readonly Resource[], leftOut: number): BrowserResult {
  const shown = resources.slice(0, MaxLines);
  const words = [
    resources.length === 0
      ? 'Nothing matches.'
      : `${resources.length} ${resources.length === 1 ? 'file' : 'files'}. Pass the whole url of one to read it.`,
    ...(shown.length < resources.length ? [`The first ${MaxLines} are shown; use url or type.`] : []),
    ...(leftOut > 0 ? ['Frames that the user does not allow are left out.'] : []),
  ];
  const lines = shown.map(({ type, mimeType, bytes, isFailed, url }) => {
    const size = bytes > 0 ? ` ${bytes} bytes` : '';
    const cut = url.length > MaxUrlCharacters ? `${url.slice(0, MaxUrlCharacters)}…` : url;
    return `${type} ${mimeType}${size}${isFailed ? ' failed' : ''} ${cut}`;
  });
  return { text: words.join(' '), ...(lines.length > 0 ? { content: lines.join('\n') } : {}) };
}
