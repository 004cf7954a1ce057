/** The one line of `npm ci`: which Node runs everything here, whatever Node the machine has. */
console.log(`Pitboss runs on Node ${process.versions.node}, which came along with its packages.`)
