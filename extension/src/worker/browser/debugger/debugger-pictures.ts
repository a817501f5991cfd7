import type { Rect } from '../../../page/operations.ts';
import { type Fields, isRecord } from '../../../record.ts';
import type { BrowserCall } from '../browser-tool.ts';
import type { Picture, PicturesBrowser } from '../pictures.ts';
import { documentGone, toolFailure } from '../tool-failure.ts';
import type { DebuggerSession, Debuggers } from './debuggers.ts';

/** MaxHeight limits the height of a picture, in CSS pixels. */
export const MaxHeight = 8000;
/** CaptureMs limits one attempt to take a picture, in milliseconds. */
const CaptureMs = 5000;
const MaxAttempts = 2;

/**
 * DebuggerPictureOptions describes which picture to take. Without area and isFullPage, the picture shows the viewport.
 */
export interface DebuggerPictureOptions {
  readonly type: 'webp' | 'jpeg' | 'png';
  /** quality is the quality of WebP and JPEG pictures, from 0 to 100. */
  readonly quality: number;
  /**
   * area is a part of the page in CSS pixels, relative to the viewport. The captured area may extend beyond the
   * viewport.
   */
  readonly area?: Rect;
  readonly isFullPage?: boolean;
  readonly maxWidth?: number;
}

/** DebuggerPicture is a picture with notes for the agent, such as a warning that the picture is cropped. */
export interface DebuggerPicture extends Picture {
  readonly isCut: boolean;
  readonly notes: readonly string[];
}

/** takeDebuggerPicture takes a picture of a tab with the debugger, even if the tab is in the background. */
export async function takeDebuggerPicture(
  debuggers: Debuggers,
  browser: Pick<PicturesBrowser, 'readDisplayedTab' | 'drawPicture'>,
  call: BrowserCall,
  options: DebuggerPictureOptions,
): Promise<DebuggerPicture> {
  const shown = async () => (await browser.readDisplayedTab(call.tabId))?.documentId;
  const before = call.documentId || (await shown());
  for (let attempt = 1; ; attempt++) {
    call.signal.throwIfAborted();
    const captured = await debuggers
      .use(call.tabId, ['drawing'], (session) => capture(session, options))
      .catch((error: unknown) => {
        if (attempt < MaxAttempts && String(error).includes('did not finish')) return undefined;
        throw error;
      });
    // The tab may have navigated to a page that the tool must not see.
    if ((await shown()) !== before) throw documentGone('open', false);
    if (captured) return await finish(browser, captured, options);
  }
}

/** Captured is a picture that may still need scaling or another file type. */
interface Captured {
  readonly data: string;
  readonly type: string;
  readonly width: number;
  readonly height: number;
  /** isFinal is true if the picture already has the requested size and file type. */
  readonly isFinal: boolean;
  readonly notes: readonly string[];
}

async function capture(session: DebuggerSession, options: DebuggerPictureOptions): Promise<Captured> {
  const metrics = await session.send('Page.getLayoutMetrics');
  const view = readSizes(metrics.cssLayoutViewport);
  const ratio = readSizes(metrics.layoutViewport).clientWidth / view.clientWidth;
  const { clip, isCut, fullHeight } = chooseClip(options, view, readSizes(metrics.cssContentSize));
  const [width, height] = [Math.round(clip?.width ?? view.clientWidth), Math.round(clip?.height ?? view.clientHeight)];
  const isFinal = Math.abs(ratio - 1) < 0.01 && (options.maxWidth === undefined || width <= options.maxWidth);
  const type = isFinal ? options.type : 'png';
  const { data } = await session.send(
    'Page.captureScreenshot',
    {
      format: type,
      ...(type === 'png' ? {} : { quality: options.quality }),
      ...(clip ? { clip: { ...clip, scale: 1 }, captureBeyondViewport: true } : {}),
    },
    CaptureMs,
  );
  if (typeof data !== 'string' || data === '') throw toolFailure('timeout', 'Chrome took no picture of the tab');
  const notes = isCut
    ? [`The ${options.isFullPage ? 'page' : 'element'} is ${fullHeight} pixels high; the picture ends at ${MaxHeight}.`]
    : [];
  return { data, type, width, height, isFinal, notes };
}

/**
 * chooseClip returns the part of the page to capture, in CSS pixels. For a picture of the viewport, chooseClip returns
 * no clip.
 */
function chooseClip(
  { area, isFullPage }: DebuggerPictureOptions,
  view: Sizes,
  content: Sizes,
): { readonly clip?: Rect; readonly isCut: boolean; readonly fullHeight: number } {
  if (!area && !isFullPage) return { isCut: false, fullHeight: view.clientHeight };
  const wanted = area
    ? { x: area.x + view.pageX, y: area.y + view.pageY, width: area.width, height: area.height }
    : { x: 0, y: 0, width: content.width, height: content.height };
  const fullHeight = Math.round(wanted.height);
  const height = Math.max(1, Math.min(wanted.height, MaxHeight));
  return {
    clip: { ...wanted, width: Math.max(1, wanted.width), height },
    isCut: wanted.height > MaxHeight,
    fullHeight,
  };
}

async function finish(
  browser: Pick<PicturesBrowser, 'drawPicture'>,
  captured: Captured,
  options: DebuggerPictureOptions,
): Promise<DebuggerPicture> {
  const { data, width, height, notes, isFinal } = captured;
  const isCut = notes.length > 0;
  if (isFinal) return { data, width, height, isCut, notes };
  const picture = await browser.drawPicture(`data:image/${captured.type};base64,${data}`, {
    mimeType: `image/${options.type}`,
    viewWidth: width,
    ...(options.maxWidth === undefined ? {} : { maxWidth: options.maxWidth }),
  });
  return { ...picture, isCut, notes };
}

/** Sizes contains the numbers from Page.getLayoutMetrics that are needed to take a picture. */
type Sizes = Readonly<Record<'clientWidth' | 'clientHeight' | 'pageX' | 'pageY' | 'width' | 'height', number>>;

function readSizes(value: unknown): Sizes {
  const fields: Fields = isRecord(value) ? value : {};
  const read = (key: keyof Sizes) => {
    const number = fields[key];
    return typeof number === 'number' && Number.isFinite(number) ? number : 0;
  };
  return {
    clientWidth: read('clientWidth'),
    clientHeight: read('clientHeight'),
    pageX: read('pageX'),
    pageY: read('pageY'),
    width: read('width'),
    height: read('height'),
  };
}
