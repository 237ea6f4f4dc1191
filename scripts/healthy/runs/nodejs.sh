# A Node server: deprecations, an error it handles, npm that audits nothing and runs scripts.
node server.js & job=$!; sleep 1; for p in / /throw /reject /slow; do curl -s -m 1 -o /dev/null http://127.0.0.1:8010$p; done; kill -TERM $job; wait $job 2>/dev/null; npm init -y; npm test; npm run build
