// Finishes animations in hidden tabs. Chrome draws no frames in a hidden tab, so an animation does not advance, and a
// menu that closes with an animation would stay open.

import { unclobbered } from './unclobbered.ts';

export function finishAnimations(): number {
  let count = 0;
  for (const animation of unclobbered.getAnimations()) {
    if (!hasEnd(animation)) continue;
    count++;
    try {
      animation.finish();
    } catch {
      continue; // the page changed the animation in the meantime
    }
    sendEnd(animation);
  }
  return count;
}

const PopupSelector = '[role=listbox],[role=menu],[role=dialog],[role=tooltip],[role=alert],dialog,[popover]';
const ControlSelector =
  'a[href],button,input,select,textarea,[role=option],[role=menuitem],[role=button],[role=treeitem],slot';

/** animatesContent reports whether a running animation shows or hides controls or messages. */
export function animatesContent(): boolean {
  return unclobbered.getAnimations().some((animation) => {
    const { effect } = animation;
    const target = effect instanceof KeyframeEffect && hasEnd(animation) ? effect.target : null;
    return (
      target !== null &&
      (target.matches(PopupSelector) || target.querySelector(`${PopupSelector},${ControlSelector}`) !== null)
    );
  });
}

function hasEnd(animation: Animation): boolean {
  if (animation.playState !== 'running' || animation.timeline !== getTimeline()) return false;
  const end = animation.effect?.getComputedTiming().endTime;
  return animation.playbackRate > 0 && typeof end === 'number' && Number.isFinite(end);
}

/** sendEnd dispatches the events of a finished animation, which the browser would dispatch only with its next frame. */
function sendEnd(animation: Animation): void {
  const { currentTime } = animation;
  animation.dispatchEvent(
    new AnimationPlaybackEvent('finish', { currentTime, timelineTime: getTimeline().currentTime }),
  );
  const effect = animation.effect;
  const target = effect instanceof KeyframeEffect ? effect.target : null;
  if (!target) return;
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
}

function getTimeline(): DocumentTimeline {
  return unclobbered.timeline;
}
