import { useEffect, useState } from 'preact/hooks'
import type { Table } from './create-table.ts'
import type { TableState } from './table-state.ts'

/** The table's state, drawn again at each change. */
export function useTable(table: Table): TableState {
  const [state, setState] = useState(table.state)
  useEffect(() => {
    setState(table.state())
    return table.subscribe(() => setState(table.state()))
  }, [table])
  return state
}
