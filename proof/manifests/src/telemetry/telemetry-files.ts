import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { type Rule, rulesOf } from '../query-problems.ts'
import { manifestSchema } from '../render-folder.ts'
import { boards } from './boards.ts'
import { renderBoard } from './render-board.ts'
import { renderMetricsPage } from './render-metrics-page.ts'
import { renderSloRules } from './render-slo-rules.ts'
import { monitoringFolder, readSlo } from './slo.ts'

/** The project's root, with a slash. */
export const rootFolder = fileURLToPath(new URL('../../../../', import.meta.url))

/** The rules of the component, those made from `slo.yaml` included. */
export function componentRules(sloRules = renderSloRules(readSlo())): Rule[] {
  const texts = [readFileSync(`${monitoringFolder}/rules.yaml`, 'utf8'), sloRules]
  return rulesOf(texts.map((text) => manifestSchema.parse(parse(text))))
}

/** The files that follow from code, rules and `slo.yaml`: path and text. */
export function telemetryFiles(): ReadonlyMap<string, string> {
  const sloRules = renderSloRules(readSlo())
  return new Map([
    [`${monitoringFolder}/slo-rules.yaml`, sloRules],
    ...boards.map((board): [string, string] => [
      `${monitoringFolder}/boards/${board.name}.json`,
      renderBoard(board),
    ]),
    [`${rootFolder}docs/metrics.md`, renderMetricsPage(componentRules(sloRules))],
  ])
}
