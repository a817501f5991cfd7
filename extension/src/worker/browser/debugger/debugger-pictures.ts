import type { Rect } from '../../../page/operations.ts';
import { type Fields, isRecord } from '../../../record.ts';
import type { BrowserCall } from '../browser-tool.ts';
import type { Picture, PicturesBrowser } from '../pictures.ts';
import { makeDocumentGoneFailure, toolFailure } from '../tool-failure.ts';
import type { DebuggerSession, Debuggers } from './debuggers.ts';

export const MaxPictureHeight = 8000;
const CaptureTimeoutMs = 5000;
const MaxAttempts = 2;

/** If area and isFullPage are missing, the picture shows the viewport. */
export interface DebuggerPictureOptions {
  readonly type: 'webp' | 'jpeg' | 'png';
  /** The field `quality` is the quality of WebP and JPEG pictures, from 0 to 100. */
  readonly quality: number;
  /** The field `area` is a part of the page in CSS pixels, relative to the viewport. */
  readonly area?: Rect;
  readonly isFullPage?: boolean;
  readonly maxWidth?: number;
}

export interface DebuggerPicture extends Picture {
  readonly isTruncated: boolean;
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
      .use(call.tabId, ['drawing'], (session) => capturePicture(session, options))
      .catch((error: unknown) => {
        if (attempt < MaxAttempts && String(error).includes('did not finish')) return undefined;
        throw error;
      });
    // During the capture, the tab may have navigated to a page that the tool must not read.
    if ((await shown()) !== before) throw makeDocumentGoneFailure('open', false);
    if (captured) return await finishPicture(browser, captured, options);
  }
}

interface CapturedPicture {
  readonly data: string;
  readonly type: string;
  readonly width: number;
  readonly height: number;
  /** The field `ratio` is the number of pixels in the picture for each CSS pixel of the page. */
  readonly ratio: number;
  /** isFinal is true if the picture already has the requested size and file type. */
  readonly isFinal: boolean;
  /** The field `crop` is the part of the picture to keep, in CSS pixels; undefined for the whole picture. */
  readonly crop: Rect | undefined;
  readonly notes: readonly string[];
}

async function capturePicture(session: DebuggerSession, options: DebuggerPictureOptions): Promise<CapturedPicture> {
  const metrics = await session.send('Page.getLayoutMetrics');
  const view = readLayoutSizes(metrics.cssLayoutViewport);
  const viewRatio = readLayoutSizes(metrics.layoutViewport).clientWidth / view.clientWidth;
  const { clip, crop, isCut, fullHeight } = chooseClip(options, view, readLayoutSizes(metrics.cssContentSize));
  const [width, height] = [Math.round(clip?.width ?? view.clientWidth), Math.round(clip?.height ?? view.clientHeight)];
  // Chrome measures the clip in pixels of the tab, which are smaller than the CSS pixels of a zoomed page.
  const zoom = readLayoutSizes(metrics.cssVisualViewport).zoom || 1;
  const ratio = clip ? viewRatio / zoom : viewRatio;
  const isFinal = !crop && Math.abs(ratio - 1) < 0.01 && (options.maxWidth === undefined || width <= options.maxWidth);
  const type = isFinal ? options.type : 'png';
  const { data } = await session.send(
    'Page.captureScreenshot',
    {
      format: type,
      ...(type === 'png' ? {} : { quality: options.quality }),
      ...(clip ? { clip: scaleClip(clip, zoom), captureBeyondViewport: true } : {}),
    },
    CaptureTimeoutMs,
  );
  if (typeof data !== 'string' || data === '') throw toolFailure('timeout', 'Chrome took no picture of the tab');
  const notes = isCut
    ? [
        `The ${options.isFullPage ? 'page' : 'element'} is ${fullHeight} pixels high; the picture ends at ${MaxPictureHeight}.`,
      ]
    : [];
  return { data, type, width, height, ratio, isFinal, crop, notes };
}

/**
 * With a clip, Chrome resizes the page, so the picture can lack frames of other sites. An area of the viewport is
 * cropped after the capture.
 */
function chooseClip(
  { area, isFullPage }: DebuggerPictureOptions,
  view: LayoutSizes,
  content: LayoutSizes,
): { readonly clip?: Rect; readonly crop?: Rect; readonly isCut: boolean; readonly fullHeight: number } {
  if (!area && !isFullPage) return { isCut: false, fullHeight: view.clientHeight };
  if (area && isInView(area, view)) return { crop: area, isCut: false, fullHeight: area.height };
  const wanted = area
    ? { x: area.x + view.pageX, y: area.y + view.pageY, width: area.width, height: area.height }
    : { x: 0, y: 0, width: content.width, height: content.height };
  const fullHeight = Math.round(wanted.height);
  const height = Math.max(1, Math.min(wanted.height, MaxPictureHeight));
  return {
    clip: { ...wanted, width: Math.max(1, wanted.width), height },
    isCut: wanted.height > MaxPictureHeight,
    fullHeight,
  };
}

function isInView({ x, y, width, height }: Rect, view: LayoutSizes): boolean {
  return x >= 0 && y >= 0 && x + width <= view.clientWidth && y + height <= view.clientHeight;
}

/** scaleClip converts a clip from CSS pixels to the pixels of the tab. */
function scaleClip({ x, y, width, height }: Rect, zoom: number): Rect & { readonly scale: number } {
  return { x: x * zoom, y: y * zoom, width: width * zoom, height: height * zoom, scale: 1 / zoom };
}

async function finishPicture(
  browser: Pick<PicturesBrowser, 'drawPicture'>,
  captured: CapturedPicture,
  options: DebuggerPictureOptions,
): Promise<DebuggerPicture> {
  const { data, width, height, ratio, crop, notes, isFinal } = captured;
  const isCut = notes.length > 0;
  if (isFinal) return { data, width, height, isTruncated: isCut, notes };
  const picture = await browser.drawPicture(`data:image/${captured.type};base64,${data}`, {
    mimeType: `image/${options.type}`,
    ratio,
    ...(crop ? { area: crop } : {}),
    ...(options.maxWidth === undefined ? {} : { maxWidth: options.maxWidth }),
  });
  return { ...picture, isTruncated: isCut, notes };
}

type LayoutSizes = Readonly<
  Record<'clientWidth' | 'clientHeight' | 'pageX' | 'pageY' | 'width' | 'height' | 'zoom', number>
>;

function readLayoutSizes(value: unknown): LayoutSizes {
  const fields: Fields = isRecord(value) ? value : {};
  const read = (key: keyof LayoutSizes) => {
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
    zoom: read('zoom'),
  };
}
