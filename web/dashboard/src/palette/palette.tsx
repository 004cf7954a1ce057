import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Modal } from '../parts/modal.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { places } from '../session/places.ts'
import { useSearchById } from './use-search-by-id.ts'

type Hit = { readonly title: string; readonly note: string; readonly href: string }

/** Pages by their name, and anything by its id; the arrow keys choose and Enter goes there. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const { user } = useDashboard()
  const [, navigate] = useLocation()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  /** Enter was pressed before the answer came. */
  const [eager, setEager] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  const text = typed.trim()
  const search = useSearchById(text)
  const pages: Hit[] = places
    .flatMap(({ places }) => places)
    .filter(({ needs }) => needs === undefined || whyNot(user.role, needs) === null)
    .filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()))
    .map(({ title, href }) => ({ title, note: 'page', href }))
  const hits = [...search.hits, ...pages]
  const at = Math.min(chosen, hits.length - 1)
  function go(hit: Hit | undefined) {
    if (hit === undefined) return
    onClose()
    navigate(hit.href)
  }
  useEffect(() => {
    if (eager && !search.busy) {
      setEager(false)
      go(hits[0])
    }
  })
  function onKey(event: KeyboardEvent) {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const move = moves[event.key]
    if (move !== undefined && hits.length > 0) {
      event.preventDefault()
      setChosen((at + move + hits.length) % hits.length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      if (search.busy && chosen === 0) setEager(true)
      else go(hits[at])
    }
  }
  return (
    <Modal title="Search" onClose={onClose} focus={input}>
      <div className="field">
        <label htmlFor={`${id}-input`}>Any id, or a page</label>
        <input
          ref={input}
          id={`${id}-input`}
          type="search"
          role="combobox"
          aria-expanded={hits.length > 0}
          aria-controls={`${id}-hits`}
          aria-activedescendant={hits.length > 0 ? `${id}-${at}` : undefined}
          aria-describedby={`${id}-hint`}
          autoComplete="off"
          spellCheck={false}
          maxLength={128}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setEager(false)
            setChosen(0)
          }}
          onKeyDown={onKey}
        />
        <p className="hint" id={`${id}-hint`}>
          A session, round, transaction, event, delivery, endpoint, key, player, flag, approval, certification
          or reconciliation; ours or yours.
        </p>
      </div>
      <ErrorNotice error={search.error} />
      <ul className="hits" role="listbox" id={`${id}-hits`} aria-label="Found">
        {hits.map((hit, index) => (
          <li
            key={hit.href}
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === at}
            onPointerMove={() => setChosen(index)}
            onClick={() => go(hit)}
            onKeyDown={onKey}
          >
            <span>{hit.title}</span> <small>{hit.note}</small>
          </li>
        ))}
      </ul>
      <p role="status" className="quiet">
        {search.busy ? 'Looking…' : hits.length === 0 ? 'Nothing has this id.' : ''}
      </p>
    </Modal>
  )
}
