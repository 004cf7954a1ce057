import { deliveryBoard } from './delivery-board.ts'
import { moneyBoard } from './money-board.ts'
import type { Board, Panel } from './panel.ts'

/** The boards, each a file of `deploy/k8s/components/monitoring/boards`. */
export const boards: readonly Board[] = [moneyBoard, deliveryBoard]

/** Every panel of every board. */
export const panels: readonly Panel[] = boards.flatMap(({ rows }) => rows.flatMap(({ panels }) => panels))

/** The panel that the page of an alert shows. @throws Error for an alert that has none */
export function panelOf(alert: string): Panel {
  const found = panels.find(({ alerts = [] }) => alerts.includes(alert))
  if (found === undefined) throw new Error(`no panel shows ${alert}`)
  return found
}
