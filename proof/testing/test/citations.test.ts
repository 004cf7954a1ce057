import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import t from 'tap'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const exclude = ['**/node_modules/**', '**/dist/**', '**/.tap/**']
const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8')

/** Names of documents that are not in the repository. */
const elsewhere = [
  /\bcontract,? (?:sections?|[0-9])\b/i,
  /\binterface specification\b/i,
  /\bsource: specification\b/i,
  /\bdesign notes?\b/i,
]
const page = /(?<![\w./-])(?:[\w.-]+\/)*[\w.-]+\.md\b/g
const citedSections =
  /docs\/contract\.md, sections? ([0-9]+(?:(?:, | and | to )[0-9]+)*)(?:,? \(?"([^"]+)")?/g

/** The breaches of one comment that stands in `file`, each as a sentence. */
function breachesOf(file: string, comment: string): string[] {
  const text = comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ')
  const unknown = elsewhere.flatMap((phrase) => phrase.exec(text)?.[0] ?? [])
  const missing = (text.match(page) ?? []).filter((path) => !isPage(file, path))
  const sections = [...text.matchAll(citedSections)].flatMap(([cited, numbers = '', title]) => {
    const isThere = numbers.match(/[0-9]+/g)?.every((number) => contract.includes(`\n## ${number}. `))
    const isNamed = title === undefined || contract.toLowerCase().includes(title.toLowerCase())
    return isThere === true && isNamed ? [] : [cited]
  })
  return [...unknown, ...missing, ...sections].map((breach) => `${file} cites ${breach}`)
}

/** Whether the page is there, named from the project's root, the file's package or the file's folder. */
function isPage(file: string, path: string): boolean {
  const packageFolder = file.split('/').slice(0, file.startsWith('web/') ? 1 : 2)
  return [root, join(root, ...packageFolder), join(root, dirname(file))].some((from) =>
    existsSync(join(from, path)),
  )
}

function commentsIn(file: string): string[] {
  const { comments } = parseSync(file, readFileSync(join(root, file), 'utf8'))
  return comments.map(({ value }) => value)
}

/** Anchors of a page's headings, as GitHub makes them. */
function anchorsIn(text: string): Set<string> {
  const headings = text.match(/^#{1,6} .*$/gm) ?? []
  return new Set(
    headings.map((heading) =>
      heading
        .replace(/^#+ /, '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

t.test('comments cite pages and sections that are in the repository', (t) => {
  const files = globSync('{libs,services,tools,proof,web}/**/*.{ts,tsx,cts,mjs}', { cwd: root, exclude })
  t.strictSame(
    files.toSorted().flatMap((file) => commentsIn(file).flatMap((comment) => breachesOf(file, comment))),
    [],
  )
  t.end()
})

t.test('the rule finds what it is for', (t) => {
  const file = 'libs/money/src/amount.ts'
  const breaches = (comment: string) => breachesOf(file, comment).length
  t.equal(breaches('Source: docs/contract.md, section 5.'), 0)
  t.equal(breaches('Source: docs/contract.md, sections 5, 11 and 12.'), 0)
  t.equal(breaches('Source: docs/contract.md, section 12, "A definite answer is true for ever".'), 0)
  t.equal(breaches('Source: docs/contract.md, section 99.'), 1)
  t.equal(breaches('Source: docs/contract.md, section 5, "No such words".'), 1)
  t.equal(breaches('Source: contract section 5.'), 1)
  t.equal(breaches('Chosen by contract 9.1.'), 1)
  t.equal(breaches('Source: Contract\n * sections 5 and 11.'), 1)
  t.equal(breaches('Source: interface specification, "Events".'), 1)
  t.equal(breaches('Source: flows.md, flow 2; design notes on NATS.'), 2)
  t.equal(breaches('See docs/flows.md and README.md.'), 0)
  t.equal(breaches('See docs/no-such-page.md.'), 1)
  t.end()
})

t.test('links and file names in pages lead somewhere', (t) => {
  const pages = globSync(['*.md', '{docs,deploy,libs,services,tools,proof,web}/**/*.md'], {
    cwd: root,
    exclude,
  })
  const breaches = pages.toSorted().flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].filter(
      ([, path = '', anchor]) => {
        const target = path === '' ? file : normalize(join(dirname(file), path))
        if (!existsSync(join(root, target))) return true
        if (anchor === undefined || !target.endsWith('.md')) return false
        return !anchorsIn(readFileSync(join(root, target), 'utf8')).has(anchor)
      },
    )
    // A decision names the files of its day.
    const names = file.startsWith('docs/decisions/')
      ? []
      : [
          ...text.matchAll(/`((?:libs|services|tools|proof|web|docs)\/[\w./-]+\.(?:ts|tsx|json|md))`/g),
        ].filter(([, path = '']) => !existsSync(join(root, path)))
    return [...links, ...names].map(([cited]) => `${file}: ${cited}`)
  })
  t.strictSame(breaches, [])
  t.end()
})
