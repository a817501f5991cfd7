// Animations in a hidden tab. The browser draws no frames there, so animations do not move, and menus and dialogs that
// close with one would stay open.

import { unclobbered } from './unclobbered.ts';

/** finishAnimations brings the animations of a hidden tab to their end, and returns how many there were. */
export function finishAnimations(): number {
  let count = 0;
  for (const animation of unclobbered.getAnimations()) {
    if (!hasEnd(animation)) continue;
    count++;
    try {
      animation.finish();
    } catch {
      continue; // the page changed the animation meanwhile
    }
    sendEnd(animation);
  }
  return count;
}

const PopupRoles = '[role=listbox],[role=menu],[role=dialog],[role=tooltip],[role=alert],dialog,[popover]';
const Controls =
  'a[href],button,input,select,textarea,[role=option],[role=menuitem],[role=button],[role=treeitem],slot';

/** animatesContent reports whether an animation shows or hides controls or messages; effects of single buttons do not count. */
export function animatesContent(): boolean {
  return unclobbered.getAnimations().some((animation) => {
    const { effect } = animation;
    const target = effect instanceof KeyframeEffect && hasEnd(animation) ? effect.target : null;
    return (
      target !== null && (target.matches(PopupRoles) || target.querySelector(`${PopupRoles},${Controls}`) !== null)
    );
  });
}

function hasEnd(animation: Animation): boolean {
  if (animation.playState !== 'running' || animation.timeline !== timeline()) return false;
  const end = animation.effect?.getComputedTiming().endTime;
  return animation.playbackRate > 0 && typeof end === 'number' && Number.isFinite(end);
}

/** sendEnd sends the events of an end, which the browser only sends with the next frame. */
function sendEnd(animation: Animation): void {
  const { currentTime } = animation;
  animation.dispatchEvent(new AnimationPlaybackEvent('finish', { currentTime, timelineTime: timeline().currentTime }));
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

function timeline(): DocumentTimeline {
  return unclobbered.timeline;
}
