import { lazy, Suspense, useEffect, useState } from 'react'

const Palette = lazy(() => import('./palette.tsx'))

/** Opens the palette by a press, by Ctrl K or Cmd K, and by "/" where nothing is being typed. */
export function PaletteButton() {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      const isCommand = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
      if (!isCommand && (event.key !== '/' || isTyping(event.target))) return
      event.preventDefault()
      setOpen(true)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <button type="button" className="button quiet-button palette-button" onClick={() => setOpen(true)}>
        Search <kbd aria-hidden>Ctrl K</kbd>
      </button>
      {open && (
        <Suspense fallback={null}>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role=dialog]') !== null
}
