/** Without it Excel takes a CSV file for one of its own code page. */
const byteOrderMark = '\ufeff'

/** Hands the browser a file to keep. */
export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([type === 'text/csv' ? byteOrderMark : '', text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
