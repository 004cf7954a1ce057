import { MongoBinary } from 'mongodb-memory-server-core'

const [downloadDir, version] = process.argv.slice(2)
if (downloadDir === undefined || version === undefined)
  throw new Error('usage: download-mongod-main FOLDER VERSION')
const program = await MongoBinary.getPath({ downloadDir, version, checkMD5: true })
process.send?.(program)
process.disconnect()
