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

interface FrameResource {
  readonly frame: DebuggedFrame;
  readonly url: string;
  /** The field `type` is Chrome's resource type in lower case, such as "script". */
  readonly type: string;
  readonly mimeType: string;
  /** The field `bytes` is the size of the resource, or 0 if the size is unknown. */
  readonly bytes: number;
  readonly isFailed: boolean;
}

/**
 * ResourceTools lists and reads the files that pages have loaded, such as documents, scripts, style sheets and images.
 */
export class ResourceTools {
  readonly #browser: DebuggedFramesBrowser;
  readonly #debuggers: Debuggers;
  readonly #parts: TextParts;

  constructor(browser: DebuggedFramesBrowser, debuggers: Debuggers, textParts: TextParts) {
    this.#browser = browser;
    this.#debuggers = debuggers;
    this.#parts = textParts;
  }

  /**
   * With the argument `url`, the method `read` returns the content of one resource. Without `url`, `read` lists all
   * resources.
   */
  async read(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const cursor = readText(args, 'cursor');
    if (cursor !== undefined) {
      const { text: partText, sentences: resultSentences } = this.#parts.readNextPart(call, cursor);
      return { text: resultSentences.join(' '), content: partText };
    }
    const [url = '', type = ''] = [readText(args, 'url'), readText(args, 'type')];
    return await this.#debuggers.use(call.tabId, ['children'], async (session) => {
      const { frames, omittedFrameCount: skippedFrameCount } = await readDebuggedFrames(session, this.#browser, call);
      const frameResources = frames
        .flatMap(listFrameResources)
        .filter((frameResource) => type === '' || frameResource.type === type);
      const exactResource = frameResources.find((frameResource) => frameResource.url === url);
      if (exactResource) return await this.#readBody(session, call, exactResource);
      return listResources(
        frameResources.filter((frameResource) => frameResource.url.includes(url)),
        skippedFrameCount,
      );
    });
  }

  async #readBody(session: DebuggerSession, call: BrowserCall, frameResource: FrameResource): Promise<BrowserResult> {
    const { frame, url, type, mimeType, bytes } = frameResource;
    const resourceKind = `${type} ${mimeType}`;
    const sendCommand = (method: string, params: Fields) => session.send(method, params, undefined, frame.childId);
    let contentAnswer: Fields;
    try {
      await sendCommand('Page.enable', {});
      contentAnswer = await sendCommand('Page.getResourceContent', { frameId: frame.frameId, url });
    } catch (error) {
      const { text: partText, sentences: resultSentences } = this.#parts.readFirstPart(
        call,
        await readCurrentDocument(sendCommand, frameResource, error),
      );
      return {
        text: [
          `${resourceKind} as it is now, without the values of fields; Chrome no longer has the original.`,
          ...resultSentences,
        ].join(' '),
        content: partText,
      };
    }
    const content = String(contentAnswer.content ?? '');
    if (contentAnswer.base64Encoded === true) {
      const padding = content.endsWith('==') ? 2 : content.endsWith('=') ? 1 : 0;
      const size = (content.length / 4) * 3 - padding;
      return { text: `${resourceKind}: a binary file of ${size} bytes, which is not shown.` };
    }
    const { text: partText, sentences: resultSentences } = this.#parts.readFirstPart(call, content);
    return {
      text: [`${resourceKind}, ${bytes || content.length} bytes.`, ...resultSentences].join(' '),
      content: partText,
    };
  }
}

/**
 * currentHtmlExpression evaluates to the HTML of a document without the values of its fields, because many pages write
 * a typed password or card number into the attribute `value`. The HTML keeps the values of buttons, check boxes and
 * radio buttons. In the copy of the document, neither custom elements nor loads of images start.
 */
const currentHtmlExpression = `(() => {
  const removeValues = (root) => {
    for (const field of root.querySelectorAll('input, textarea, template')) {
      if (field.localName === 'template' && field.content) removeValues(field.content);
      else if (field.localName === 'textarea') field.textContent = '';
      else if (!/^(button|checkbox|radio|reset|submit)$/.test(field.type)) field.removeAttribute('value');
    }
  };
  const copy = document.cloneNode(true);
  removeValues(copy);
  return copy.documentElement.outerHTML;
})()`;

/** The parameter `resourceProblem` is the error that occurred when the worker tried to read the original HTML. */
async function readCurrentDocument(
  sendCommand: (method: string, params: Fields) => Promise<Fields>,
  { frame, type }: FrameResource,
  resourceProblem: unknown,
): Promise<string> {
  if (type === 'document') {
    const { executionContextId } = await sendCommand('Page.createIsolatedWorld', {
      frameId: frame.frameId,
      worldName: DebuggerWorldName,
    });
    const { value } = toFields(
      (await sendCommand('Runtime.evaluate', { expression: currentHtmlExpression, contextId: executionContextId }))
        .result,
    );
    if (typeof value === 'string') return value;
  }
  const reason = resourceProblem instanceof Error ? resourceProblem.message : String(resourceProblem);
  throw toolFailure('not_found', `Chrome no longer has the content of this ${type} (${reason}). Reload the page first`);
}

function listFrameResources(frame: DebuggedFrame): FrameResource[] {
  const document = {
    frame,
    url: frame.url,
    type: 'document',
    mimeType: frame.mimeType,
    bytes: 0,
    isFailed: false,
  };
  const otherLines = frame.resources.map((resourceEntry) => {
    const { url, type, mimeType, contentSize, failed } = toFields(resourceEntry);
    return {
      frame,
      url: String(url),
      type: String(type).toLowerCase(),
      mimeType: String(mimeType ?? ''),
      bytes: typeof contentSize === 'number' ? contentSize : 0,
      isFailed: failed === true,
    };
  });
  return [document, ...otherLines];
}

function listResources(frameResources: readonly FrameResource[], omittedCount: number): BrowserResult {
  const shownResources = frameResources.slice(0, MaxLines);
  const resultSentences = [
    frameResources.length === 0
      ? 'Nothing matches.'
      : `${frameResources.length} ${frameResources.length === 1 ? 'file' : 'files'}. Pass the whole url of one to read it.`,
    ...(shownResources.length < frameResources.length ? [`The first ${MaxLines} are shown; use url or type.`] : []),
    ...(omittedCount > 0 ? ['Frames that the user does not allow are left out.'] : []),
  ];
  const lines = shownResources.map(({ type, mimeType, bytes, isFailed, url }) => {
    const size = bytes > 0 ? ` ${bytes} bytes` : '';
    const cut = url.length > MaxUrlCharacters ? `${url.slice(0, MaxUrlCharacters)}…` : url;
    return `${type} ${mimeType}${size}${isFailed ? ' failed' : ''} ${cut}`;
  });
  return { text: resultSentences.join(' '), ...(lines.length > 0 ? { content: lines.join('\n') } : {}) };
}
