import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useZone } from '../time/zone.tsx'
import { actOfKey, type KeyAct } from './keys.ts'

const Palette = lazy(() => import('./palette.tsx'))
const KeyList = lazy(() => import('./key-list.tsx'))

/** The keys of the dashboard, and the buttons for who has none: search, and the list of the keys. */
export function Keyboard() {
  const [open, setOpen] = useState<'search' | 'keys' | null>(null)
  const [, navigate] = useLocation()
  const { zone, zones, setZone } = useZone()
  const waiting = useRef(false)
  const close = () => setOpen(null)
  useEffect(() => {
    function does(act: KeyAct): void {
      switch (act.kind) {
        case 'search':
        case 'keys':
          return setOpen(act.kind)
        case 'go':
          return navigate(act.href)
        case 'zone':
          return setZone(zoneAfter(zone, zones))
        case 'next-row':
          return focusRow(1)
        case 'previous-row':
          return focusRow(-1)
        case 'page':
          return find(`.pager [data-page=${act.which}]`)?.click()
        case 'filters':
          return find('.filters :is(input, select)')?.focus()
      }
    }
    function onKey(event: KeyboardEvent) {
      const command = event.ctrlKey || event.metaKey
      if (event.altKey || (!command && isTyping(event.target))) return
      const pressed = actOfKey({ key: event.key, command }, waiting.current)
      waiting.current = pressed.waiting
      if (pressed.act === null) return
      event.preventDefault()
      does(pressed.act)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [navigate, zone, zones, setZone])
  return (
    <>
      <button type="button" className="button quiet-button palette-button" onClick={() => setOpen('search')}>
        Search <kbd aria-hidden>Ctrl K</kbd>
      </button>
      <button
        type="button"
        className="button quiet-button keys-button"
        aria-label="Keys of the keyboard"
        onClick={() => setOpen('keys')}
      >
        ?
      </button>
      <Suspense fallback={null}>
        {open === 'search' && <Palette onClose={close} />}
        {open === 'keys' && <KeyList onClose={close} />}
      </Suspense>
    </>
  )
}

function zoneAfter(zone: string, zones: readonly { readonly name: string }[]): string {
  const at = zones.findIndex(({ name }) => name === zone)
  return zones[(at + 1) % zones.length]?.name ?? zone
}

/** Moves the focus by so many rows that are links; from none it goes to the first. */
function focusRow(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('main tr[data-link=true] td:first-child a')]
  const at = links.findIndex((link) => link === document.activeElement)
  const next = at === -1 ? links[0] : links[at + by]
  next?.focus()
}

function find(selector: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`main ${selector}`)
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role=dialog]') !== null
}
