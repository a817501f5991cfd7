// Finishes animations in hidden tabs. Chrome draws no frames in a hidden tab, so an animation does not advance, and a
// menu that closes with an animation would stay open.

import { listKnownRoots } from './flat-tree.ts';
import { unclobberedDocument } from './unclobbered.ts';

/** finishAnimations returns the number of finished animations, and calls onFinished with each animated element. */
export function finishAnimations(onFinished?: (target: Element) => void): number {
  let count = 0;
  for (const animation of listAnimations()) {
    if (!isFiniteAnimation(animation) || isCountdown(animation)) continue;
    count++;
    try {
      animation.finish();
    } catch {
      continue; // the page changed the animation in the meantime
    }
    const target = dispatchEndEvents(animation);
    if (target) onFinished?.(target);
  }
  return count;
}

/** listAnimations also returns the animations in shadow roots, which the list of the document does not contain. */
function listAnimations(): Animation[] {
  return listKnownRoots().flatMap((root) => (root instanceof ShadowRoot ? root : unclobberedDocument).getAnimations());
}

const MinCountdownMs = 800;

/**
 * isCountdown reports whether an animation shows remaining time, such as the shrinking bar of a message that disappears
 * after some seconds. Finishing a countdown animation would remove the message.
 */
function isCountdown({ effect }: Animation): boolean {
  const target = effect instanceof KeyframeEffect ? effect.target : null;
  if (!target || Number(effect?.getComputedTiming().endTime) < MinCountdownMs) return false;
  return (
    target.textContent?.trim() === '' &&
    !containsUserInterface(target) &&
    target.querySelector('img,svg,canvas') === null
  );
}

/**
 * isFadingOut reports whether an animation has made controls or messages transparent, so that the page is about to
 * remove them. Many pages remove faded elements with a timer, which fires late in a hidden tab.
 */
export function isFadingOut(element: Element): boolean {
  if (!element.isConnected || !element.checkVisibility({ visibilityProperty: true })) return false;
  return Number(getComputedStyle(element).opacity) < 0.05 && containsUserInterface(element);
}

function containsUserInterface(element: Element): boolean {
  const selector = `${PopupSelector},${ControlSelector}`;
  return element.matches(PopupSelector) || element.querySelector(selector) !== null;
}

const PopupSelector = '[role=listbox],[role=menu],[role=dialog],[role=tooltip],[role=alert],dialog,[popover]';
const ControlSelector =
  'a[href],button,input,select,textarea,[role=option],[role=menuitem],[role=button],[role=treeitem],slot';

/** animatesContent reports whether a running animation shows or hides controls or messages. */
export function animatesContent(): boolean {
  return listAnimations().some((animation) => {
    const { effect } = animation;
    const target = effect instanceof KeyframeEffect && isFiniteAnimation(animation) ? effect.target : null;
    return target !== null && containsUserInterface(target);
  });
}

function isFiniteAnimation(animation: Animation): boolean {
  if (animation.playState !== 'running' || animation.timeline !== getTimeline()) return false;
  const end = animation.effect?.getComputedTiming().endTime;
  return animation.playbackRate > 0 && typeof end === 'number' && Number.isFinite(end);
}

/**
 * dispatchEndEvents dispatches the end events of an animation and returns the animated element. The browser itself
 * would dispatch these events only with its next frame.
 */
function dispatchEndEvents(animation: Animation): Element | undefined {
  const { currentTime } = animation;
  animation.dispatchEvent(
    new AnimationPlaybackEvent('finish', { currentTime, timelineTime: getTimeline().currentTime }),
  );
  const effect = animation.effect;
  const target = effect instanceof KeyframeEffect ? effect.target : null;
  if (!target) return undefined;
  const elapsedTime = Number(currentTime ?? 0) / 1000;
  const init = {
    bubbles: true,
    elapsedTime,
    pseudoElement: effect instanceof KeyframeEffect ? (effect.pseudoElement ?? '') : '',
  };
  if (animation instanceof CSSTransition) {
    target.dispatchEvent(new TransitionEvent('transitionend', { ...init, propertyName: animation.transitionProperty }));
  } else if (animation instanceof CSSAnimation) {
    target.dispatchEvent(new AnimationEvent('animationend', { ...init, animationName: animation.animationName }));
  }
  return target;
}

function getTimeline(): DocumentTimeline {
  return unclobberedDocument.timeline;
}
