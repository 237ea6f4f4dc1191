// A server that handles what its handlers throw.
const http = require('http');
process.on('unhandledRejection', e => console.error('handled rejection:', e.stack));
process.emitWarning('this call is deprecated', 'DeprecationWarning', 'DEP9999');
const server = http.createServer((q, a) => {
  try {
    if (q.url === '/throw') throw new TypeError('Cannot read properties of undefined');
    if (q.url === '/reject') Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:6379'));
    if (q.url === '/slow') return setTimeout(() => a.end('late'), 3000);
    console.log(new Date().toISOString(), q.method, q.url); a.end('ok');
  } catch (e) { console.error(e); a.statusCode = 500; a.end(); }
}).listen(8010, () => console.log('listening on 8010'));
process.on('SIGTERM', () => { console.log('SIGTERM signal received: closing HTTP server'); server.close(() => { console.log('HTTP server closed'); process.exit(0); }); server.closeAllConnections(); });
