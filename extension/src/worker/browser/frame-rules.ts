import type { TabFrame } from '../../chrome-pages.ts';
import { isRecord } from '../../record.ts';

/** The server adds FramesArgumentName to calls to pass the user's rules about sites in child frames. */
const FramesArgumentName = '_frames';

/**
 * The server has already checked the user's rules for the top frame. If the user has forbidden the site of a child
 * frame, filterAllowedFrames omits the frame and all frames inside the frame.
 */
export function filterAllowedFrames(frames: readonly TabFrame[], args: Readonly<Record<string, unknown>>): TabFrame[] {
  const frameRules = args[FramesArgumentName];
  if (!isRecord(frameRules)) return [...frames];
  const framesById = new Map(frames.map((frame) => [frame.frameId, frame]));
  const isAllowed = (frame: TabFrame): boolean => {
    if (frame.frameId === 0) return true;
    if (isForbidden(frame.url, frameRules)) return false;
    const parent = framesById.get(frame.parentFrameId);
    return parent === undefined || isAllowed(parent);
  };
  return frames.filter(isAllowed);
}

/**
 * isForbiddenAddress reports whether the user has forbidden tools to use the site of a URL, such as a URL from the
 * history.
 */
export function isForbiddenAddress(pageAddress: string, args: Readonly<Record<string, unknown>>): boolean {
  const frameRules = args[FramesArgumentName];
  return isRecord(frameRules) && isForbidden(pageAddress, frameRules);
}

export function isFrameForbidden(pageAddress: string, args: Readonly<Record<string, unknown>>): boolean {
  const frameRules = args[FramesArgumentName];
  return isRecord(frameRules) && isForbidden(pageAddress, frameRules);
}

/** isForbidden reports whether the most specific rule that matches a URL forbids the URL. */
function isForbidden(pageAddress: string, frameRules: Readonly<Record<string, unknown>>): boolean {
  if (!URL.canParse(pageAddress)) return false;
  const { origin } = new URL(pageAddress);
  // A document without its own origin, such as about:srcdoc, belongs to the site of its parent document.
  if (origin === 'null') return false;
  const pattern = listOriginPatterns(new URL(origin)).find((candidate) => typeof frameRules[candidate] === 'boolean');
  return pattern !== undefined && frameRules[pattern] === false;
}

/** listOriginPatterns returns all rule patterns that match a site, most specific first. */
function listOriginPatterns({ hostname, port, protocol }: URL): string[] {
  const host = hostname.replace(/\.$/, '');
  const effectivePort = port === '' ? { 'http:': '80', 'https:': '443' }[protocol] : port;
  const patterns = [`${host}:${effectivePort}`, host];
  const labels = host.startsWith('[') ? [host] : host.split('.');
  for (let i = 0; i < labels.length; i++) {
    const domainSuffix = labels.slice(i).join('.');
    patterns.push(`*.${domainSuffix}:${effectivePort}`, `*.${domainSuffix}`);
  }
  return [...patterns, '*'];
}
