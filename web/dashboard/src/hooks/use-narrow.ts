import { useSyncExternalStore } from 'react'

/** Where the wide money picture beside the list of pages would be too small to read. */
const narrow = '(max-width: 1100px)'

/** Whether the window is too narrow for a wide drawing, now and after each change. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => window.matchMedia(narrow).matches)
}

function subscribe(changed: () => void): () => void {
  const media = window.matchMedia(narrow)
  media.addEventListener('change', changed)
  return () => media.removeEventListener('change', changed)
}
