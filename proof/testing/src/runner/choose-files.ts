import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { importsAny } from '../imports-any.ts'

const globs = ['{libs,services,tools,proof}/*/test/**/*.test.ts', 'web/test/**/*.test.ts']
/** Only `npm run test:long` runs these files. */
const longEnding = '.long.test.ts'
const startsProduct = /(run-stack|shared-stack|start-product)(\.ts)?$/
const startsEngines =
  /(with-engines|open-test-database|with-nats-cluster|start-nats-cluster|start-test-engines|start-mongodb|start-nats|start-documentdb)(\.ts)?$/

/** What a test file needs, which decides beside how many others it runs. */
export type Kind = 'pure' | 'engines' | 'product'
export type TestFile = { readonly path: string; readonly kind: Kind }

/**
 * The test files of all workspaces, or those that are named or below a named folder.
 * @param root folder of the project
 */
export function chooseFiles(root: string, named: readonly string[], isLong: boolean): readonly TestFile[] {
  const all = globSync(globs, { cwd: root, exclude: (path) => path.includes('node_modules') }).sort()
  const wanted = named.map((path) => relative(root, join(process.cwd(), path)))
  const isWanted = (file: string) => {
    if (wanted.includes(file)) return true
    if (file.endsWith(longEnding) !== isLong) return false
    return wanted.length === 0 || wanted.some((path) => file.startsWith(`${path}/`))
  }
  return all.filter(isWanted).map((path) => ({ path, kind: kindOf(join(root, path)) }))
}

function kindOf(file: string): Kind {
  if (importsAny(file, startsProduct)) return 'product'
  return importsAny(file, startsEngines) ? 'engines' : 'pure'
}
