import { type RefObject, useState } from 'react'
import type { QueryValues } from '../api/create-api.ts'
import { CopyButton } from './copy-button.tsx'
import { cellsOf, csvText } from './csv.ts'
import { curlText } from './curl-text.ts'
import { Modal } from './modal.tsx'
import { saveFile } from './save-file.ts'
import { useZone } from '../time/zone.tsx'

type ListToolsProps = {
  readonly label: string
  readonly path: string
  readonly query: QueryValues
  /** The element that holds the table. */
  readonly around: RefObject<HTMLElement | null>
}

/** Takes a list along: as CSV what is on the screen, and as a command what was asked. */
export function ListTools({ label, path, query, around }: ListToolsProps) {
  const { zone } = useZone()
  const [asked, setAsked] = useState(false)
  const curl = curlText(window.location.origin, path, query)
  function save() {
    const table = around.current?.querySelector('table')
    if (table) saveFile(`${label.toLowerCase()}.csv`, csvText(cellsOf(table, zone)), 'text/csv')
  }
  return (
    <div className="tools">
      <button type="button" className="button quiet-button small" onClick={save}>
        CSV of this page
      </button>
      <button type="button" className="button quiet-button small" onClick={() => setAsked(true)}>
        As curl
      </button>
      {asked && (
        <Modal title={`${label} as curl`} onClose={() => setAsked(false)}>
          <p className="about">
            What this page has just asked. <code>PITBOSS_TOKEN</code> is the access token of a person, from{' '}
            <code>POST /v1/dashboard/login</code>.
          </p>
          <pre className="data" tabIndex={0} aria-label="Command">
            {curl}
          </pre>
          <CopyButton text={curl} what="command" />
        </Modal>
      )}
    </div>
  )
}
