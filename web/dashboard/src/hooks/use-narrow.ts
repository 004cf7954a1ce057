import { useSyncExternalStore } from 'react'

/** Where the style sheets turn tables into cards. */
const narrow = '(max-width: 700px)'

/** Whether the window is as narrow as a phone, now and after each change. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => window.matchMedia(narrow).matches)
}

function subscribe(changed: () => void): () => void {
  const media = window.matchMedia(narrow)
  media.addEventListener('change', changed)
  return () => media.removeEventListener('change', changed)
}
