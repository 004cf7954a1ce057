import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { manifestsFolder } from '../render-folder.ts'

/** The folder of the component that watches an installation. */
export const monitoringFolder = `${manifestsFolder}/components/monitoring`

const window = z.stringFormat('window', /^[1-9][0-9]*[mhd]$/)
const burn = z.strictObject({
  factor: z.number().positive(),
  long: window,
  short: window,
  for: window.optional(),
})
const alert = z.strictObject({ alert: z.string().min(1), summary: z.string().min(1) })
const objective = z.strictObject({
  name: z.stringFormat('name', /^[a-z][a-z_]*$/),
  about: z.string().min(1),
  promise: z.string().min(1),
  objective: z.number().gt(0).lt(1),
  all: z.string().includes('$window'),
  bad: z.string().includes('$window'),
  badMin: z.int().positive(),
  page: alert,
  ticket: alert,
})
const slo = z.strictObject({
  windows: z.array(window).min(1),
  page: z.array(burn).min(1),
  ticket: z.array(burn).min(1),
  objectives: z.array(objective).min(1),
})
export type Slo = z.infer<typeof slo>

/** What is promised, as `slo.yaml` has it. @throws ZodError for a file that does not say it */
export function readSlo(text = readFileSync(`${monitoringFolder}/slo.yaml`, 'utf8')): Slo {
  return slo.parse(parse(text))
}
