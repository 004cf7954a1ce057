import { readFileSync } from 'node:fs'
import { type Books, judgeBooks } from './judge-books.ts'

// Judges kept books again: `node proof/chaos/src/judge/judge-books-main.ts FOLDER/books.json`.
const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('give the path of the books that a chaos run has kept')
const judged = judgeBooks(JSON.parse(readFileSync(path, 'utf8')) as Books[])
process.stdout.write(`${JSON.stringify(judged)}\n`)
process.exitCode = judged.some(({ violations }) => violations.length > 0) ? 1 : 0
