import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Round } from '../api/records.ts'
import type { Table } from './create-table.ts'

/**
 * Sends what this page shows of a round's end: the text as it stands in the page, not as it was meant. The
 * element that shows it gets the ref. Source: docs/contract.md, section 4, "Receipts".
 */
export function useReceipt(table: Table, round: Round | null): RefObject<HTMLParagraphElement | null> {
  const line = useRef<HTMLParagraphElement>(null)
  const roundId = round?.status === 'SETTLED' ? round.round_id : null
  useEffect(() => {
    const text = line.current?.textContent ?? ''
    if (roundId === null || text === '') return
    void table.receipt({ roundId, text, build: buildName(), language: document.documentElement.lang })
  }, [table, roundId])
  return line
}

/** The name of the page's script, which holds a hash of its content. */
function buildName(): string {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"]')
  return script?.src.split('/').at(-1) ?? ''
}
